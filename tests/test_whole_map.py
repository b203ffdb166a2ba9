"""What a model says of the whole map: how many prerequisites, which to believe, and the graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from proprl import PrerequisiteModel, load_model
from proprl.data import Course
from proprl.errors import ProprlError, SplitError
from proprl.graphs.closure import what_follows
from proprl.pairs.background import background_pool, draw_background, open_pairs

QUICK = {"trees": 10}


def fit(course: Course, *, split: str = "auto", seed: int = 1, **how: object) -> PrerequisiteModel:
    return PrerequisiteModel(settings=QUICK, split=split, seed=seed).fit(course, **how)  # type: ignore[arg-type]


def labelled(course: Course, pairs: list[tuple[str, str, int]]) -> Course:
    return replace(course, pairs=pl.DataFrame(pairs, ["source", "target", "label"], orient="row"))


@pytest.fixture(scope="module")
def model(planted: Course) -> PrerequisiteModel:
    """Learned from all labels but a test part, and from background."""
    return fit(planted, split="grouped")


@pytest.fixture(scope="module")
def everything(planted: Course) -> PrerequisiteModel:
    """Learned from every label, and from background."""
    return fit(planted)


@pytest.fixture(scope="module")
def unaware(planted: Course) -> PrerequisiteModel:
    """Learned from every label, and from nothing else."""
    return fit(planted, background=None)


@pytest.fixture(scope="module")
def positives(planted: Course) -> Course:
    assert planted.pairs is not None
    return replace(planted, pairs=planted.pairs.filter(pl.col("label") == 1))


@pytest.fixture(scope="module")
def ranker(positives: Course) -> PrerequisiteModel:
    """Learned from prerequisites alone, and from background."""
    return fit(positives)


class TestBackground:
    def test_auto_draws_what_the_labels_leave_open(self, model: PrerequisiteModel) -> None:
        drawn = draw_background(model.fitted_.known, 60, seed=1)
        assert model.fitted_.background == len(drawn) > 0
        assert model.fitted_.notes == ()

    def test_without_background_nothing_is_said_of_the_map(
        self, unaware: PrerequisiteModel
    ) -> None:
        assert unaware.fitted_.background == 0
        assert (unaware.expected_, unaware.fitted_.believed) == (None, None)
        assert unaware.threshold_ == unaware.fitted_.report.threshold
        assert unaware.fitted_.notes == (
            "No pairs without a label were learned from: its probabilities hold for pairs as "
            "people pick them, not for the whole map.",
        )

    def test_an_empty_list_is_none(self, planted: Course, unaware: PrerequisiteModel) -> None:
        assert fit(planted, background=[]).predict_all().equals(unaware.predict_all())

    def test_pairs_of_ones_own_in_any_order_and_by_any_name(
        self, planted: Course, unaware: PrerequisiteModel
    ) -> None:
        rows = background_pool(unaware.fitted_.known, 60)[::3]
        named = [(f"Concept {i}", f"c{j}") for i, j in rows.tolist()]
        frame = pl.DataFrame(named[::-1] + named[:5], ["source", "target"], orient="row")
        one, other = fit(planted, background=named), fit(planted, background=frame)
        assert one.fitted_.background == other.fitted_.background == len(rows)
        assert one.predict_all().equals(other.predict_all())

    def test_pairs_with_a_label_are_refused(self, planted: Course) -> None:
        assert planted.pairs is not None
        source, target = planted.pairs.select("source", "target").row(0)
        with pytest.raises(ProprlError, match="1 of 1 background pairs have a label"):
            fit(planted, background=[(source, target)])

    def test_a_method_that_takes_none_says_so(self, planted: Course) -> None:
        refd = PrerequisiteModel("refd")
        with pytest.raises(ProprlError, match="refd learns nothing from pairs without a label"):
            refd.fit(planted, background=[("c1", "c59")])
        refd.fit(planted)
        assert refd.fitted_.background == 0
        assert "refd learns nothing from pairs without a label" in refd.fitted_.notes[0]

    def test_few_are_warned_of(self, planted: Course, unaware: PrerequisiteModel) -> None:
        pool = background_pool(unaware.fitted_.known, 60)
        few = [(f"c{i}", f"c{j}") for i, j in pool[:30].tolist()]
        (note,) = fit(planted, background=few).fitted_.notes
        assert "Only 30 pairs without a label" in note
        assert "hold for pairs as people pick them" in note

    def test_who_chose_them_is_told_when_the_number_holds(
        self, planted: Course, unaware: PrerequisiteModel
    ) -> None:
        pool = background_pool(unaware.fitted_.known, 60)
        chosen = [(f"c{i}", f"c{j}") for i, j in pool[:400].tolist()]
        (note,) = fit(planted, background=chosen).fitted_.notes
        assert "drawn by lot" in note


class TestExpected:
    def test_the_number_is_the_base_rate_of_so_many_open_pairs(
        self, model: PrerequisiteModel
    ) -> None:
        expected, calibration = model.expected_, model.fitted_.fit.calibration
        assert expected is not None
        assert calibration is not None
        assert calibration.base_rate is not None
        count = int(open_pairs(model.fitted_.known, 60).sum())
        assert expected.open_pairs == count
        assert expected.number == pytest.approx(calibration.base_rate * count)
        assert expected.low <= expected.number <= expected.high
        assert expected.one_in == pytest.approx(1 / calibration.base_rate)

    def test_what_is_believed_is_what_reaches_the_threshold_of_the_map(
        self, model: PrerequisiteModel
    ) -> None:
        everything = model.predict_all()
        assert model.fitted_.fit.calibration is not None
        assert model.threshold_ == model.fitted_.fit.calibration.believed
        assert (
            model.predict(everything).sum() == (everything["probability"] >= model.threshold_).sum()
        )


class TestPositivesAlone:
    def test_they_rank_and_promise_nothing(self, ranker: PrerequisiteModel) -> None:
        assert len(ranker.predict_all(top=5)) == 5
        assert ranker.fitted_.background > 0
        assert (ranker.expected_, ranker.threshold_) == (None, None)
        assert "how many prerequisites there are cannot be told" in ranker.fitted_.notes[0]

    def test_nothing_is_believed_and_no_map_is_drawn(self, ranker: PrerequisiteModel) -> None:
        with pytest.raises(ProprlError, match="nothing says which pairs to believe"):
            ranker.predict([("c1", "c2")])
        with pytest.raises(ProprlError, match=r"labels say yes.*give a threshold"):
            ranker.graph()
        assert len(ranker.graph(threshold=1.0)) == len(ranker.labels_alone())
        assert "Nothing says what to believe" in str(ranker.explain("c1", "c2"))

    def test_no_figure_pretends_to_a_threshold(self, ranker: PrerequisiteModel) -> None:
        found = ranker.evaluate()
        assert (found["f1"], found["threshold"], found["calibration_error"]) == (None, None, None)
        assert ranker.reliability() == []

    def test_without_background_or_a_method_for_it_they_are_refused(
        self, positives: Course
    ) -> None:
        for method, background in (("sequitur", None), ("sequitur", []), ("svm", None)):
            with pytest.raises(SplitError, match="add pairs with label 0"):
                PrerequisiteModel(method).fit(positives, background=background)

    def test_where_no_pair_is_left_open_they_are_refused(self, planted: Course) -> None:
        chain = labelled(planted, [(f"c{k}", f"c{k + 1}", 1) for k in range(59)])
        with pytest.raises(SplitError, match="add pairs with label 0"):
            fit(chain)


class TestTooLittle:
    def test_ten_labels_promise_nothing(self, planted: Course) -> None:
        assert planted.pairs is not None
        halves = planted.pairs.partition_by("label")
        few = fit(replace(planted, pairs=pl.concat([half.head(5) for half in halves])))
        assert (few.expected_, few.fitted_.believed) == (None, None)
        assert few.fitted_.notes[0].startswith("Only 10 labels to learn from")
        assert few.evaluate()["base_rate"] is None
        with pytest.raises(ProprlError, match="Only 10 labels"):
            few.graph()
        assert few.threshold_ is None
        with pytest.raises(ProprlError, match=r"nothing says which pairs to believe.*Only 10"):
            few.predict([("c1", "c2")])

    def test_fifty_labels_are_enough_for_sequitur(self, planted: Course) -> None:
        """Other methods know what they are worth by the tenth that they did not learn from."""
        assert planted.pairs is not None
        halves = planted.pairs.partition_by("label")
        course = replace(planted, pairs=pl.concat([half.head(25) for half in halves]))
        few = fit(course)
        assert few.expected_ is not None
        assert few.fitted_.notes == ()
        other = PrerequisiteModel("svm", seed=1).fit(course)
        assert other.expected_ is None
        assert "Fewer than 5 labels of a kind" in other.fitted_.notes[0]

    def test_prerequisites_and_their_reverses_alone_tell_no_number(self, planted: Course) -> None:
        """A no to a prerequisite turned round says nothing of how rare prerequisites are."""
        assert planted.pairs is not None
        yes = planted.pairs.filter(pl.col("label") == 1).head(30)
        turned = [(b, a, 0) for a, b in yes.select("source", "target").iter_rows()]
        one_way = labelled(planted, [*yes.select("source", "target", "label").iter_rows(), *turned])
        few = fit(one_way)
        assert few.expected_ is None
        assert "Fewer than 5 labels of a kind" in few.fitted_.notes[0]

    def test_two_concepts_are_enough_to_train(self, planted: Course) -> None:
        two = replace(planted, concepts=planted.concepts.head(2))
        course = Course.from_tables(concepts=two.concepts, features=planted.features[:2])
        pair = labelled(course, [("c0", "c1", 1), ("c1", "c0", 0)])
        assert "Only 2 labels" in fit(pair).fitted_.notes[0]

    def test_a_course_in_which_every_pair_has_a_label(self, planted: Course) -> None:
        ids = [f"c{k}" for k in range(12)]
        every = [(a, b, int(k < m)) for k, a in enumerate(ids) for m, b in enumerate(ids) if a != b]
        full = fit(labelled(planted, every))
        assert full.fitted_.background == 0
        assert full.expected_ is None
        assert "no pair is left without one" in full.fitted_.notes[0]


class TestGraph:
    def test_known_labels_are_law_and_test_labels_are_not_in_it(
        self, model: PrerequisiteModel
    ) -> None:
        graph, known = model.graph(), model.fitted_.known
        follows = what_follows(60, graph.pairs)
        assert follows[tuple(graph.labels.kept.T)].all()
        rejected = np.zeros((60, 60), dtype=np.bool_)
        rejected[tuple(known.pairs[known.labels == 0].T)] = True
        implied = {tuple(pair) for pair in graph.implied_rejected.tolist()}
        assert {tuple(p) for p in np.argwhere(follows & rejected).tolist()} == implied
        confirmed = {tuple(pair) for pair in known.positives.tolist()}
        for pair, is_confirmed in zip(graph.pairs.tolist(), graph.confirmed, strict=True):
            assert is_confirmed == (tuple(pair) in confirmed)

    def test_edges_carry_ids_names_and_what_the_model_says(self, model: PrerequisiteModel) -> None:
        edges = list(model.graph(threshold=0.5))
        assert edges
        said = model.predict_proba([(edge.source_id, edge.target_id) for edge in edges])
        for edge, probability in zip(edges, said, strict=True):
            assert edge.source == f"Concept {edge.source_id[1:]}"
            assert edge.probability == pytest.approx(probability, abs=1e-9)
            assert edge.confirmed or edge.probability >= 0.5

    def test_the_labels_alone_need_no_model(self, model: PrerequisiteModel) -> None:
        alone = model.labels_alone()
        assert alone.confirmed.all()
        follows = what_follows(60, alone.pairs)
        assert follows[tuple(alone.labels.kept.T)].all()
        assert len(model.graph(threshold=1.0)) == len(alone)

    @pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
    def test_a_threshold_is_a_probability(self, model: PrerequisiteModel, threshold: float) -> None:
        with pytest.raises(ProprlError, match="from 0 to 1"):
            model.graph(threshold=threshold)


class TestFigures:
    def test_without_a_test_part_known_labels_are_judged_crosswise(
        self, everything: PrerequisiteModel
    ) -> None:
        judged, held_out = everything.judged(), everything.fitted_.fit.held_out
        assert held_out is not None
        assert everything.fitted_.fit.calibration is not None
        assert judged.how == "cross-fitted"
        assert judged.labelled == everything.fitted_.known
        np.testing.assert_array_equal(
            judged.said, everything.fitted_.fit.calibration.probability(held_out.scores)
        )
        found = judged.metrics()
        assert found["pairs"] == 400
        assert found["ordered_share"] is None  # nobody judged the pairs turned round
        assert "had not learned from it" in judged.sentences()[0]

    def test_they_say_for_which_rate_they_hold(self, model: PrerequisiteModel) -> None:
        judged = model.judged()
        assert model.expected_ is not None
        assert judged.how == "test"
        assert f"{judged.rate:.0%} of these {len(judged.labelled)}" in judged.sentences()[1]
        assert f"1 in {model.expected_.one_in:,.0f}" in judged.sentences()[1]
        assert model.evaluate()["base_rate"] == pytest.approx(1 / model.expected_.one_in)

    def test_what_is_said_of_the_map_is_converted_before_it_is_compared(
        self, model: PrerequisiteModel
    ) -> None:
        judged = model.judged()
        assert judged.base_rate is not None
        assert judged.compared is not None
        odds = judged.said / (1 - judged.said)
        factor = judged.rate / (1 - judged.rate) * (1 - judged.base_rate) / judged.base_rate
        compared = judged.compared / (1 - judged.compared)
        np.testing.assert_allclose(compared, odds * factor, rtol=1e-6)
        assert sum(one.pairs for one in model.reliability()) == len(judged.labelled)

    def test_a_part_by_name(self, model: PrerequisiteModel) -> None:
        for part in ("train", "validation", "test"):
            assert model.evaluate(part=part)["pairs"] == len(model.fitted_.parts[part])
        with pytest.raises(ProprlError, match="known: train, validation, test, auto"):
            model.evaluate(part="exam")

    def test_validation_labels_are_called_learned_from_where_they_were(
        self, model: PrerequisiteModel, planted: Course
    ) -> None:
        """Sequitur learns from them, other methods choose a threshold on them."""
        nb = PrerequisiteModel("nb").fit(planted)
        assert "has learned from these" in model.judged(part="validation").sentences()[0]
        assert "threshold was chosen" in nb.judged(part="validation").sentences()[0]

    def test_a_method_that_judges_nothing_crosswise_shows_its_validation(
        self, planted: Course
    ) -> None:
        nb = PrerequisiteModel("nb").fit(planted)
        judged = nb.judged()
        assert judged.how == "validation"
        assert judged.labelled == nb.fitted_.split.validation


class TestExplanation:
    def test_kinds_of_evidence_add_up_to_the_answer(self, model: PrerequisiteModel) -> None:
        known = model.fitted_.known.positives[:2].tolist()
        asked = [("c3", "c8"), *((f"c{j}", f"c{i}") for i, j in known)]  # reverses are confirmed
        for source, target in asked:
            why = model.explain(source, target)
            assert why.base is not None
            total = why.base + sum(why.kinds.values())
            assert 1 / (1 + np.exp(-total)) == pytest.approx(why.probability, rel=1e-6)
            assert {"labels", "moves", "resources", "texts"} == set(why.kinds)

    def test_a_label_is_said_before_anything_else(self, model: PrerequisiteModel) -> None:
        i, j = model.fitted_.known.positives[0].tolist()
        first = str(model.explain(f"c{i}", f"c{j}")).splitlines()[0]
        assert first == f"Your label: *Concept {i}* is needed before *Concept {j}*."


def test_a_bundle_keeps_all_of_it(
    model: PrerequisiteModel, everything: PrerequisiteModel, tmp_path: Path
) -> None:
    for one in (model, everything):
        one.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert again.expected_ == one.expected_
        assert again.threshold_ == one.threshold_
        assert again.fitted_.split == one.fitted_.split
        assert again.fitted_.fit.calibration == one.fitted_.fit.calibration
        assert again.fitted_.background == one.fitted_.background
        assert again.evaluate() == one.evaluate()
        assert [vars(edge) for edge in again.graph()] == [vars(edge) for edge in one.graph()]


def test_a_bundle_keeps_where_labels_come_from(planted: Course, tmp_path: Path) -> None:
    assert planted.pairs is not None
    drawn = pl.int_range(pl.len()) < 40
    pairs = planted.pairs.select("source", "target", "label").with_columns(
        origin=pl.when(drawn).then(pl.lit("drawn")).otherwise(pl.lit("chosen")),
        chance=pl.when(drawn).then(0.05),
    )
    course = Course.from_tables(concepts=planted.concepts, pairs=pairs, features=planted.features)
    model = fit(course)
    model.save(tmp_path / "m")
    known = load_model(tmp_path / "m").fitted_.known
    assert (known.origin == "drawn").sum() == 40
    assert known == model.fitted_.known
