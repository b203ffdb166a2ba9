"""The public face: fit, ask, save, load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import proprl
from conftest import SMALL
from labelled_by_hand import is_disjoint
from proprl.bundle import bundle_size
from proprl.data import Course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import SPLIT_SEED, grouped_split
from proprl.errors import ProprlError, SplitError, UnknownConceptError
from proprl.evaluation.metrics import simplex_weights


@pytest.fixture(scope="module")
def parted(planted: Course) -> proprl.ProPRL:
    """A model that a test part was drawn for."""
    return proprl.ProPRL(seed=1, split="grouped", settings=SMALL).fit(planted)


def test_parameters_follow_scikit_learn() -> None:
    model = proprl.ProPRL(seed=7, settings={"alpha": 0.2})
    assert model.get_params()["seed"] == 7
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(preset="paper").preset == "paper"


def test_names_and_ids_are_the_same_question(fitted: proprl.ProPRL) -> None:
    by_name = fitted.predict_proba([("Concept 3", "Concept 8")])
    by_id = fitted.predict_proba([("c3", "c8")])
    assert by_name.shape == (1,)
    np.testing.assert_array_equal(by_name, by_id)


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_pairs_may_come_as_a_frame(fitted: proprl.ProPRL, frame: type) -> None:
    table = frame({"source": ["c3", "c1"], "target": ["c8", "c2"]})
    expected = fitted.predict_proba([("c3", "c8"), ("c1", "c2")])
    np.testing.assert_array_equal(fitted.predict_proba(table), expected)


def test_predictions_are_what_reaches_the_threshold(fitted: proprl.ProPRL) -> None:
    pairs = [("c3", "c8"), ("c8", "c3"), ("c1", "c2")]
    expected = fitted.predict_proba(pairs) >= fitted.threshold_
    np.testing.assert_array_equal(fitted.predict(pairs), expected)


def test_an_unknown_concept_is_named(fitted: proprl.ProPRL) -> None:
    with pytest.raises(UnknownConceptError, match="Concept 99"):
        fitted.predict_proba([("Concept 99", "c1")])


def test_malformed_pairs_are_refused(fitted: proprl.ProPRL) -> None:
    with pytest.raises(ProprlError, match="pair 1 is"):
        fitted.predict_proba([("c1", "c2"), ("c1", "c2", "c3")])
    with pytest.raises(ProprlError, match="lacks the column 'target'"):
        fitted.predict_proba(pl.DataFrame({"source": ["c1"]}))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (None, "not None"),
        (5, "not 5"),
        ("c1", "not 'c1'"),
        ([5], "pair 0 is 5; expected"),
        ([("c1", "c1")], "Concept 1 is paired with itself"),
    ],
)
def test_what_are_no_pairs_is_refused(fitted: proprl.ProPRL, pairs: object, message: str) -> None:
    with pytest.raises(ProprlError, match=message):
        fitted.predict_proba(pairs)


def test_branches_count_as_much_as_ranks_validation_pairs_best(fitted: proprl.ProPRL) -> None:
    report, validation = fitted.fitted_.report, fitted.fitted_.split.validation
    details = fitted.fitted_.scorer.details(validation.pairs)
    p = np.column_stack([details[branch] for branch in report.branch_weights])
    expected = simplex_weights(validation.labels, p, threshold=None)
    np.testing.assert_allclose(list(report.branch_weights.values()), expected)
    assert np.ptp(expected) > 0  # at random they would all count alike


def test_wrong_arguments_are_named(fitted: proprl.ProPRL, planted: Course) -> None:
    with pytest.raises(ProprlError, match="load_course"):
        proprl.ProPRL().fit("campus")  # type: ignore[arg-type]
    with pytest.raises(ProprlError, match="seed must be"):
        proprl.ProPRL(seed=-1).fit(planted)
    with pytest.raises(ProprlError, match="top must be"):
        fitted.predict_all(top=-1)


@pytest.mark.parametrize("name", ["c8", " Concept 8 ", "CONCEPT 8", "concept  8"])
def test_a_known_name_is_not_new_in_any_spelling(fitted: proprl.ProPRL, name: str) -> None:
    with pytest.raises(ProprlError, match="is not new"):
        fitted.predict_new(name)


@pytest.mark.parametrize("name", ["", "  ", "...", "\u200b", "-"])
def test_a_new_concept_needs_a_name(fitted: proprl.ProPRL, name: str) -> None:
    with pytest.raises(ProprlError, match="needs a name with a letter or digit"):
        fitted.predict_new(name)


@pytest.mark.parametrize("text", [None, 5, b"Splines", ["Splines"]])
def test_a_new_concept_is_given_as_text(fitted: proprl.ProPRL, text: Any) -> None:
    with pytest.raises(ProprlError, match="name must be text"):
        fitted.predict_new(text)
    with pytest.raises(ProprlError, match="description must be text"):
        fitted.predict_new("Splines", text)


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\nb", "a\tb", "a\x00b", "a\u2028b", "a\udcffb"])
def test_a_new_concept_holds_no_control_characters(fitted: proprl.ProPRL, text: str) -> None:
    with pytest.raises(ProprlError, match="name holds a control character") as refused:
        fitted.predict_new(text)
    assert str(refused.value).isprintable()
    with pytest.raises(ProprlError, match="description holds a control character"):
        fitted.predict_new("Splines", text)


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ([], "against is empty"),
        (5, "against takes names or ids of concepts, not 5"),
        ("Concept 99", "no concept 'Concept 99'"),
        ([None], "no concept 'None'"),
    ],
)
def test_a_new_concept_is_held_against_known_ones(
    fitted: proprl.ProPRL, against: Any, message: str
) -> None:
    with pytest.raises(ProprlError, match=message):
        fitted.predict_new("Splines", against=against)


def test_a_loaded_model_keeps_its_settings(bundle: Path) -> None:
    settings = proprl.load_model(bundle).get_params()["settings"]
    assert {name: settings[name] for name in SMALL} == SMALL


def test_a_course_with_other_concepts_cannot_be_evaluated(
    fitted: proprl.ProPRL, campus: Course
) -> None:
    with pytest.raises(UnknownConceptError, match="it was trained on planted"):
        fitted.evaluate(campus)


def test_an_unfitted_model_says_so() -> None:
    with pytest.raises(ProprlError, match="not fitted yet"):
        proprl.ProPRL().predict_proba([("a", "b")])


def test_all_pairs_sorted_and_the_top_of_them(fitted: proprl.ProPRL) -> None:
    everything = fitted.predict_all()
    assert len(everything) == 60 * 59
    assert everything["probability"].is_sorted(descending=True)
    assert fitted.predict_all(top=7).equals(everything.head(7))
    one = everything.row(11, named=True)
    np.testing.assert_allclose(
        fitted.predict_proba([(one["source"], one["target"])]), one["probability"], atol=1e-6
    )


def test_saving_and_loading_changes_no_answer(fitted: proprl.ProPRL, bundle: Path) -> None:
    again = proprl.load_model(bundle)
    assert again.predict_all().equals(fitted.predict_all())
    assert again.evaluate() == fitted.evaluate()
    assert str(again.explain("c1", "c5")) == str(fitted.explain("c1", "c5"))
    assert [vars(e) for e in again.graph()] == [vars(e) for e in fitted.graph()]
    assert again.fitted_.split == fitted.fitted_.split


def test_a_saved_model_is_the_same_bytes_each_time(fitted: proprl.ProPRL, tmp_path: Path) -> None:
    fitted.save(tmp_path / "a")
    assert bundle_size(fitted.fitted_) == sum(
        file.stat().st_size for file in (tmp_path / "a").iterdir()
    )
    proprl.load_model(tmp_path / "a").save(tmp_path / "b")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_without_a_test_part_every_label_is_learned_from(
    planted: Course, fitted: proprl.ProPRL
) -> None:
    split = fitted.fitted_.split
    assert (split.protocol, len(split.test)) == ("all", 0)
    assert len(fitted.fitted_.known) == len(planted.labelled_pairs())
    assert split.notes == ("every label was learned from: none was kept apart to judge by",)
    assert is_disjoint(split, reverse=True)


def test_a_drawn_split_does_not_move_with_the_seed(planted: Course, parted: proprl.ProPRL) -> None:
    assert parted.fitted_.split == grouped_split(planted.labelled_pairs(), seed=SPLIT_SEED)
    assert is_disjoint(parted.fitted_.split, reverse=True)


def test_evaluation_never_scores_a_pair_that_was_learned_from(
    planted: Course, parted: proprl.ProPRL
) -> None:
    judged = parted.judged(planted)
    assert judged.how == "test"
    test = {tuple(pair) for pair in parted.fitted_.split.test.pairs.tolist()}
    assert {tuple(pair) for pair in judged.labelled.pairs.tolist()} == test
    assert parted.evaluate(planted) == pytest.approx(parted.evaluate())


def with_labels(course: Course, *added: tuple[str, str, int]) -> Course:
    """Give the course with more labels, each a source, a target and 0 or 1."""
    assert course.pairs is not None
    rows = pl.DataFrame(added, ["source", "target", "label"], orient="row")
    return Course.from_tables(
        concepts=course.concepts,
        pairs=pl.concat([course.pairs.select(rows.columns), rows], how="vertical_relaxed"),
    )


def test_labels_added_later_count_as_test(planted: Course, parted: proprl.ProPRL) -> None:
    assert planted.pairs is not None
    known = set(planted.pairs.select("source", "target").iter_rows())
    settled = known | {(b, a) for a, b in known}
    fresh = next(("c0", f"c{j}") for j in range(1, 60) if ("c0", f"c{j}") not in settled)
    before, after = parted.evaluate(planted), parted.evaluate(with_labels(planted, (*fresh, 0)))
    assert isinstance(before["pairs"], int)
    assert after["pairs"] == before["pairs"] + 1


def test_the_reverse_of_a_pair_that_was_learned_from_is_no_test(
    planted: Course, parted: proprl.ProPRL
) -> None:
    labelled = {tuple(pair) for pair in planted.labelled_pairs().pairs.tolist()}
    learned = parted.fitted_.known.positives.tolist()
    a, b = next((a, b) for a, b in learned if (b, a) not in labelled)
    turned_round = with_labels(planted, (planted.ids[b], planted.ids[a], 0))
    assert parted.evaluate(turned_round)["pairs"] == parted.evaluate(planted)["pairs"]


def test_a_given_test_part_is_judged_without_reverses_of_what_was_learned(
    parted: proprl.ProPRL,
) -> None:
    fitted = parted.fitted_
    learned = fitted.known.take(np.arange(5))
    leaking = fitted.split.test.joined(
        LabelledPairs(learned.pairs[:, ::-1].copy(), 1 - learned.labels)
    )
    model = proprl.ProPRL()
    model.fitted_ = replace(fitted, split=replace(fitted.split, test=leaking))
    assert model.judged().labelled == fitted.split.test


def test_a_course_without_labels_says_what_to_provide(planted: Course) -> None:
    unlabelled = Course.from_tables(concepts=planted.concepts)
    with pytest.raises(ProprlError, match="pairs"):
        proprl.ProPRL().fit(unlabelled)


def test_a_given_split_needs_the_column(planted: Course) -> None:
    with pytest.raises(SplitError, match="`split` column"):
        proprl.ProPRL(split="given").fit(planted)
    with pytest.raises(SplitError, match="known: auto, given, all, random, grouped, none"):
        proprl.ProPRL(split="magic").fit(planted)


def test_an_explanation_shows_branches_and_the_gate(fitted: proprl.ProPRL) -> None:
    why = fitted.explain("c3", "c8")
    total = sum(why.branch_weights[b] * p for b, p in why.branches.items())
    assert fitted.fitted_.scorer.score(np.array([[3, 8]]))[0] == pytest.approx(total, abs=1e-6)
    assert why.probability == pytest.approx(fitted.predict_proba([("c3", "c8")])[0], abs=1e-6)
    gate = fitted.fitted_.scorer.details(np.array([[3, 8]]))["gate"][0]
    assert why.gate == pytest.approx(gate)
    assert 0 < gate < 1
    assert "Concept 3" in str(why)
    assert (why.source_id, why.target_id) == ("c3", "c8")


def test_an_explanation_shows_the_evidence_of_the_course(
    planted: Course, fitted: proprl.ProPRL
) -> None:
    assert planted.transitions is not None
    source, target, weight = planted.transitions.row(0)
    why = fitted.explain(source, target)
    assert why.transitions is not None
    assert why.transitions[0] == int(weight)
    train = fitted.fitted_.split.train
    i, j = train.pairs[0].tolist()
    assert fitted.explain(f"c{i}", f"c{j}").label == (int(train.labels[0]), "train")


def test_settings_are_checked_before_anything_is_computed(planted: Course) -> None:
    with pytest.raises(ProprlError, match="did you mean batch_size"):
        proprl.ProPRL(settings={**SMALL, "batchsize": 3}).fit(planted)
