"""Reasons: they add up to the answer, and taking away what they name moves it."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.special import logit

from proprl.cli import main
from proprl.curriculum.explanation import SCALED_BY, TOLD, Explanation, steps
from proprl.curriculum.pieces import SHORTLIST, AboutPair, Piece
from proprl.data import Course
from proprl.estimator import PrerequisiteModel, ProPRL
from proprl.evaluation.base_rate import log_odds
from proprl.experiments.running.reasons import as_pieces, faithfulness, parts_of, pool_of
from proprl.models.tree_sum import NODES, TreeSum

CONCEPTS = 60
CACHE: dict[str, PrerequisiteModel] = {}


@pytest.fixture(scope="module")
def model(planted: Course) -> PrerequisiteModel:
    CACHE["model"] = PrerequisiteModel(settings={"trees": 40}).fit(planted)
    return CACHE["model"]


def about(model: PrerequisiteModel, i: int, j: int) -> AboutPair:
    return AboutPair(model.fitted_.scorer, (i, j))  # type: ignore[arg-type]


@pytest.mark.usefixtures("model")
@settings(max_examples=8, phases=[Phase.generate])
@given(pair=st.lists(st.integers(0, CONCEPTS - 1), min_size=2, max_size=2, unique=True))
def test_everything_adds_up_exactly(pair: list[int]) -> None:
    i, j = pair
    model = CACHE["model"]
    why = model.explain(f"c{i}", f"c{j}")
    assert why.base is not None
    answer = model.predict_proba([(f"c{i}", f"c{j}")])
    assert why.base + sum(why.kinds.values()) == pytest.approx(logit(answer)[0], rel=1e-6)
    for kind, worth in why.kinds.items():
        told = sum(reason.worth for reason in why.told if reason.kind == kind)
        assert told + why.untold[kind] == pytest.approx(worth)
        assert sum(r.kind == kind for r in why.reasons) <= SHORTLIST + 1  # and a confirmed reverse
    assert len(why.told) <= TOLD
    assert [abs(r.worth) for r in why.reasons] == sorted(
        (abs(r.worth) for r in why.reasons), reverse=True
    )
    assert 0 <= why.untold_share <= 1


def test_without_any_piece_a_pair_has_its_own_row_and_without_all_labels_none(
    model: PrerequisiteModel,
) -> None:
    """The row of a pair alone is, bit for bit, that of the whole table."""
    here, scorer = about(model, 3, 8), model.fitted_.scorer
    for kind in ("labels", "moves", "resources"):
        made = dict(here._made(kind, []))  # type: ignore[arg-type]
        of_kind = {
            c.name: here.row[here.place[c.name]] for c in here.table.columns if c.kind == kind
        }
        assert made == pytest.approx(of_kind, abs=0)
    bare = here.table.knowing(here.table.known.take(np.empty(0, dtype=np.int64)))
    row, mine = bare.rows(here.ends[None])[0], dict(here._made("labels", [here.whole("labels")]))
    assert [mine[c.name] for c in bare.columns if c.kind == "labels"] == [
        value for value, c in zip(row, bare.columns, strict=True) if c.kind == "labels"
    ]
    assert log_odds(scorer.score(here.ends[None]))[0] == pytest.approx(
        here.log_odds() + here.scorer.reverse_weight * here.ruled_out
    )


def test_the_second_of_two_pieces_that_say_the_same_is_not_worth_nothing(
    model: PrerequisiteModel,
) -> None:
    """Steps add up to what taking all pieces away does, scaled within bounds."""
    here = about(model, 3, 8)
    for kind in ("labels", "moves", "resources", "texts"):
        pieces = here.pieces(kind)  # type: ignore[arg-type]
        moved = here.log_odds() - here.log_odds(pieces)
        total = sum(step for _, step in steps(here, kind, 1.0))
        low, high = sorted(bound * moved for bound in SCALED_BY)
        assert low - 1e-9 <= total <= high + 1e-9


def test_pieces_hold_what_they_say(model: PrerequisiteModel) -> None:
    i, j = model.fitted_.known.positives[0].tolist()
    here = about(model, i, j)
    known = here.table.known
    pairs_of = {
        piece.what: known.pairs[list(piece.labels)]
        for piece in here.pieces("labels")
        if piece.concepts[0] == i
    }
    if "needed for" in pairs_of:
        assert (pairs_of["needed for"][:, 0] == i).all()
    own = (np.sort(known.pairs, axis=1) == sorted((i, j))).all(axis=1)
    assert own.any()
    pool = pool_of(here)
    for label in pool["labels"] | parts_of(here.pieces("labels"))["labels"]:
        assert not own[label]  # a pair's own label is no reason


def test_shapley_values_are_those_of_all_coalitions() -> None:
    """A tree over three columns; what it expects of unknown columns follows its own counts."""
    nodes = {
        "split_feature": np.array([0, 1, 2], dtype=np.int32),
        "threshold": np.array([0.5, 0.5, 0.5], dtype=np.float32),
        "left_child": np.array([1, -1, -3], dtype=np.int32),
        "right_child": np.array([2, -2, -4], dtype=np.int32),
        "internal_count": np.array([100, 40, 60], dtype=np.int32),
        "leaf_value": np.array([-2.0, 1.0, 0.5, 3.0], dtype=np.float32),
        "leaf_count": np.array([10, 30, 45, 15], dtype=np.int32),
    }
    trees = TreeSum(3, np.array([4], dtype=np.int32), {name: nodes[name] for name in NODES})
    x = np.array([1.0, 0.0, 1.0])

    def expected(given_columns: frozenset[int], node: int = 0) -> float:
        if node < 0:
            return float(nodes["leaf_value"][-node - 1])
        children = nodes["left_child"][node], nodes["right_child"][node]
        feature = nodes["split_feature"][node]
        if feature in given_columns:
            return expected(given_columns, children[int(x[feature] > nodes["threshold"][node])])
        rows = [
            nodes["internal_count"][c] if c >= 0 else nodes["leaf_count"][-c - 1] for c in children
        ]
        return sum(
            float(n) / sum(rows) * expected(given_columns, c)
            for n, c in zip(rows, children, strict=True)
        )

    values = []
    for column in range(3):
        others = [c for c in range(3) if c != column]
        values.append(
            sum(
                factorial(k)
                * factorial(2 - k)
                / factorial(3)
                * (expected(frozenset({*some, column})) - expected(frozenset(some)))
                for k in range(3)
                for some in combinations(others, k)
            )
        )
    found = trees.contributions(x[None])[0]
    assert found == pytest.approx([*values, expected(frozenset())], abs=1e-6)
    assert found.sum() == pytest.approx(trees.sums(x[None])[0])


def test_sentences_name_concepts_and_what_the_evidence_is(
    model: PrerequisiteModel, planted: Course
) -> None:
    assert planted.transitions is not None
    source, target, weight = planted.transitions.row(0)
    why = model.explain(source, target)
    text = str(why)
    assert f"*{why.source}* is needed before *{why.target}*: {why.probability:.2f}." in text
    direct = [
        r for r in why.reasons if "directly" in r.sentence and f"from *{why.source}*" in r.sentence
    ]
    assert direct[0].evidence == {"moves": [[source, target, float(weight)]]}
    assert "Not named" in text
    for reason in why.told:
        assert reason.sentence in text
        assert "source" not in reason.sentence
    for reason in why.reasons:
        assert reason.sentence.endswith(".")


def test_a_method_that_tells_nothing_says_so_and_shows_the_course(planted: Course) -> None:
    assert planted.transitions is not None
    source, target, _ = planted.transitions.row(0)
    why = PrerequisiteModel("nb").fit(planted).explain(source, target)
    assert "nb does not tell how it comes to its answers." in str(why)
    assert any("directly" in fact for fact in why.facts)


def test_the_papers_model_tells_its_gate_and_the_score_without_each_view(fitted: ProPRL) -> None:
    why = fitted.explain("c3", "c8")
    assert f"Without the resource view: {why.branches['behaviour']:.2f}." in str(why)
    assert f"Without the behaviour view: {why.branches['resource']:.2f}." in str(why)
    assert f"takes {why.gate:.0%} from resources" in str(why)


def test_what_is_named_moves_answers_further_than_other_pieces(model: PrerequisiteModel) -> None:
    """A small version of `proprl reproduce reasons`."""
    fitted, rng = model.fitted_, np.random.default_rng(0)
    pairs = [(3, 8), (5, 21), (40, 2), (17, 30)]
    found = [faithfulness(fitted, pair, model.threshold_ or 0.5, rng) for pair in pairs]
    named, others = (
        np.median([one[f"moved_by_{what}"] for one in found]) for what in ("named", "others")
    )
    assert named >= others
    assert np.median([one["untold_share"] for one in found]) <= 0.5
    nothing = parts_of([])
    assert as_pieces(nothing) == []
    assert Piece("labels", "some", labels=(1, 2)).size == 2


def proprl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["proprl", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out, said.err


def test_the_command_says_it_in_sentences_and_as_json(
    model: PrerequisiteModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bundle = tmp_path / "m.proprl"
    model.save(bundle)
    code, out, _ = proprl(monkeypatch, capsys, "explain", bundle, "c3", "concept 8")
    why: Explanation = model.explain("c3", "c8")
    assert code == 0
    assert out.splitlines() == str(why).splitlines()
    code, out, _ = proprl(monkeypatch, capsys, "explain", bundle, "c3", "c8", "--json")
    said = json.loads(out)
    assert (said["before"], said["after"], code) == ("c3", "c8", 0)
    parts = [one["worth"] for one in said["reasons"] if one["told"]]
    left = said["not_named"]["log_odds"].values()
    whole = said["log_odds"]["base"] + sum(parts) + sum(left)
    assert whole == pytest.approx(logit(said["probability"]), rel=1e-6)
    for words, message in (
        (("c3", "c3"), "paired with itself"),
        (("c3", "Concept 999"), "did you mean"),
    ):
        code, out, err = proprl(monkeypatch, capsys, "explain", bundle, *words)
        assert (code, out) == (1, "")
        assert message in err
