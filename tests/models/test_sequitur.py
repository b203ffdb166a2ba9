"""Sequitur beyond the contract: how its learners count, and what it is sure of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import QuantileTransformer

from proprl.arrays import FloatArray, IntArray
from proprl.data import Course, load_course
from proprl.data.splits import LabelledPairs, PairSplit, grouped_split
from proprl.errors import ProprlError
from proprl.evaluation import auc
from proprl.evaluation.metrics import best_threshold, f1
from proprl.features.evidence import gather_evidence
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport
from proprl.models.evidence_table import EvidenceTable
from proprl.models.judge import Judge
from proprl.models.learners import SUREST
from proprl.models.line import Line
from proprl.models.order import ordered_logits
from proprl.models.sequitur import SequiturScorer, SequiturSettings, fitted_sigmoid

# Few trees and folds: enough to show how it works, in a second.
SMALL: dict[str, Any] = {"trees": 10, "folds": 4}


@pytest.fixture(scope="module")
def split(planted: Course) -> PairSplit:
    return grouped_split(planted.labelled_pairs(), fractions=(0.6, 0.2, 0.2), seed=0)


@pytest.fixture(scope="module")
def fitted(planted: Course, split: PairSplit) -> tuple[SequiturScorer, FitReport]:
    settings = SequiturSettings(trees=30, folds=4)
    scorer = SequiturScorer(settings, device="cpu")
    return scorer, scorer.fit(gather_evidence(planted)[0], split, seed=0)


def turned_round(known: LabelledPairs) -> npt.NDArray[np.bool_]:
    """Say whose reverse has a label, too."""
    every = set(map(tuple, known.pairs.tolist()))
    return np.array([(b, a) in every for a, b in known.pairs.tolist()])


def without_reverses(scorer: SequiturScorer, pairs: IntArray) -> FloatArray:
    """Give the logit that the learners come to together, known reverses apart."""
    alone = {name: logit(p) for name, p in scorer.details(pairs).items()}
    return (2 * alone["trees"] + alone["line"]) / 3


def test_trees_count_twice_as_much_as_the_line_and_both_are_calibrated(
    fitted: tuple[SequiturScorer, FitReport], split: PairSplit
) -> None:
    scorer, report = fitted
    pairs = split.test.pairs
    assert report.branch_weights == {"trees": 2 / 3, "line": 1 / 3}
    logits = scorer.judge.logits(pairs)
    z = scorer.slope * (2 * logits["trees"] + logits["line"]) / 3 + scorer.intercept
    np.testing.assert_allclose(scorer.score(pairs), expit(z + scorer.judge.reverses.z(pairs)))
    np.testing.assert_allclose(without_reverses(scorer, pairs), z)


def test_a_pair_is_judged_by_the_mean_over_its_rows(
    fitted: tuple[SequiturScorer, FitReport], split: PairSplit
) -> None:
    judge, pairs = fitted[0].judge, split.test.pairs
    rows = [judge.table.rows(pairs, salt) for salt in range(2)]
    assert not np.array_equal(*rows)
    said = np.mean(
        [judge.of_known.line.z(x).clip(logit(1 - SUREST), logit(SUREST)) for x in rows], axis=0
    )
    np.testing.assert_allclose(judge.logits(pairs)["line"], said)


def test_newcomers_have_learners_of_their_own(
    fitted: tuple[SequiturScorer, FitReport],
) -> None:
    """They speak alone of concepts that are only a text, and with the others where labels miss."""
    scorer, report = fitted
    kept = SequiturScorer.restore(scorer.settings, scorer.state(), report, device="cpu")
    judge = kept.joined_by(scorer.judge.table.evidence.features[:2]).judge
    known = judge.table.known
    holds_0 = (known.pairs == 0).any(axis=1)
    judge = replace(judge, table=judge.table.knowing(known.take(np.flatnonzero(~holds_0))))
    text = judge.table.evidence.concept_count - 1
    pairs = np.array([[1, text], [text, 1], [text, text - 1], [0, 1], [1, 2]])
    np.testing.assert_array_equal(judge.table.newness(pairs), [1, 1, 1, 0.5, 0])
    rows = [judge.table.rows(pairs, salt) for salt in range(2)]
    theirs, others = (
        np.mean([learners.logits(x)["line"] for x in rows], axis=0)
        for learners in (scorer.judge.of_newcomers, scorer.judge.of_known)
    )
    expected = [*theirs[:3], (theirs[3] + others[3]) / 2, others[4]]
    np.testing.assert_allclose(judge.logits(pairs)["line"], expected)
    assert not np.isclose(theirs, others).any()


def test_a_known_reverse_rules_a_pair_out_unless_switched_off(
    planted: Course, split: PairSplit
) -> None:
    """In a course whose experts labelled many pairs in both orders."""
    positives = split.train.positives
    half = positives[: len(positives) // 2, ::-1]
    train = LabelledPairs(
        np.concatenate([split.train.pairs, half]),
        np.concatenate([split.train.labels, np.zeros(len(half), dtype=np.int64)]),
    )
    evidence, asked = gather_evidence(planted)[0], positives[len(positives) // 2 :, ::-1]
    for which in ("positive", "none"):
        scorer = SequiturScorer(SequiturSettings(**SMALL, reverse_labels=which), device="cpu")
        scorer.fit(evidence, replace(split, train=train), seed=0)
        added = logit(scorer.score(asked)) - without_reverses(scorer, asked)
        assert (added < -4).all() if which == "positive" else np.abs(added).max() < 1e-6


def test_where_every_known_reverse_counts_lone_pairs_have_learners_of_their_own(
    planted: Course, split: PairSplit
) -> None:
    """A pair is lone if its reverse has no known label; what others say teaches nothing of it."""
    lone = split.train.take(np.flatnonzero(~turned_round(split.train)))
    half = lone.take(np.arange(0, len(lone), 2))
    known = LabelledPairs(
        np.concatenate([lone.pairs, half.pairs[:, ::-1]]),
        np.concatenate([lone.labels, 1 - half.labels]),
    )
    flipped = LabelledPairs(
        known.pairs, np.where(turned_round(known), 1 - known.labels, known.labels)
    )
    settings = SequiturSettings(**SMALL, sources="course", reverse_labels="both")

    def judge_of(known: LabelledPairs) -> Judge:
        table = EvidenceTable(gather_evidence(planted)[0], known, sources="course")
        return Judge.taught(table, settings, seed=0)

    judge, other = judge_of(known), judge_of(flipped)
    assert judge.of_newcomers is not None
    assert other.of_newcomers is not None
    newcomers, of_other = judge.of_newcomers.state(), other.of_newcomers.state()
    assert all(np.array_equal(newcomers[name], of_other[name]) for name in newcomers)
    asked, reversed_ = split.test.pairs, half.pairs[:5]
    kept = Judge.restored(judge.state(), judge.table, settings)
    for name in ("trees", "line"):
        said = judge.logits(asked)[name]
        np.testing.assert_array_equal(said, other.logits(asked)[name])
        by_lone, by_all = (
            learners.logits(judge.table.rows(asked))[name]
            for learners in (judge.of_lone, judge.of_known)
        )
        np.testing.assert_allclose(said, by_lone)
        assert not np.allclose(said, by_all)
        of_others = judge.logits(reversed_)[name]
        assert not np.array_equal(of_others, other.logits(reversed_)[name])
        for pairs in (asked, reversed_):
            np.testing.assert_array_equal(kept.logits(pairs)[name], judge.logits(pairs)[name])


def test_without_learners_of_their_own_newcomers_are_judged_like_others(
    planted: Course, split: PairSplit
) -> None:
    lone = split.train.take(np.flatnonzero(~turned_round(split.train)))
    pair = lone.pairs[:1]
    known = LabelledPairs(
        np.concatenate([lone.pairs, pair[:, ::-1]]), np.append(lone.labels, 1 - lone.labels[0])
    )
    # Of its concepts there is no other label.
    elsewhere = ~np.isin(known.pairs, pair).any(axis=1)
    elsewhere[[0, -1]] = True
    table = EvidenceTable(gather_evidence(planted)[0], known.take(np.flatnonzero(elsewhere)))
    assert table.newness(pair) == 0.5
    settings = SequiturSettings(**SMALL, reverse_labels="both", newcomers=False)
    judge = Judge.taught(table, settings, seed=0)
    rows = [table.rows(pair, salt) for salt in range(judge.dealt)]
    expected = np.mean([judge.of_known.logits(x)["trees"] for x in rows], axis=0)
    np.testing.assert_allclose(judge.logits(pair)["trees"], expected)


def test_where_hardly_a_pair_is_lone_all_are_learned_from(
    planted: Course, split: PairSplit
) -> None:
    pairs, labels = split.train.pairs, split.train.labels
    both_orders = LabelledPairs(
        np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([labels, 1 - labels])
    )
    settings = SequiturSettings(**SMALL, reverse_labels="both", newcomers=False)
    table = EvidenceTable(gather_evidence(planted)[0], both_orders.distinct())
    judge = Judge.taught(table, settings, seed=0)
    assert judge.of_lone is judge.of_known


@pytest.mark.parametrize("labels", [30, None], ids=["many newcomers", "all labels"])
def test_no_validation_label_has_a_part_in_what_is_said_of_validation_pairs(
    planted: Course, split: PairSplit, labels: int | None
) -> None:
    """Else the validation figures that a training prints would be too good to be true."""
    split = replace(split, train=split.train.take(np.arange(len(split.train))[:labels]))
    settings = SequiturSettings(**SMALL)
    asked = split.validation
    flipped = replace(split, validation=LabelledPairs(asked.pairs, 1 - asked.labels))
    scorer, other = (_fitted(planted, parts, settings) for parts in (split, flipped))
    assert (scorer.rehearsal.table.newness(asked.pairs) > 0).any() == (labels is not None)
    for pairs in (asked.pairs, asked.pairs[:, ::-1].copy()):
        for name, z in scorer._logits(pairs).items():
            np.testing.assert_array_equal(z, other._logits(pairs)[name])
    test = split.test.pairs  # of other pairs, validation labels do tell
    assert not np.array_equal(scorer._logits(test)["line"], other._logits(test)["line"])


@pytest.mark.parametrize("which", ["none", "positive", "both"])
def test_nor_has_it_where_training_pairs_hold_their_reverses(
    planted: Course, split: PairSplit, which: Any
) -> None:
    """Which known reverses count is chosen by what is said of validation pairs."""
    asked = split.validation
    train = LabelledPairs(
        np.concatenate([split.train.pairs, asked.pairs[:, ::-1]]),
        np.concatenate([split.train.labels, 1 - asked.labels]),
    )
    flipped = LabelledPairs(asked.pairs, 1 - asked.labels)
    settings = SequiturSettings(**SMALL, reverse_labels=which)
    scorer, other = (
        _fitted(planted, replace(split, train=train, validation=validation), settings)
        for validation in (asked, flipped)
    )
    np.testing.assert_array_equal(scorer._z(asked.pairs), other._z(asked.pairs))
    r = scorer.rehearsal.reverses.z(asked.pairs)
    assert r.any() == (which != "none")
    np.testing.assert_array_equal(r, other.rehearsal.reverses.z(asked.pairs))


@pytest.mark.parametrize("labels", [30, None], ids=["few labels", "all labels"])
def test_labels_that_mean_nothing_are_not_found_again(
    planted: Course, split: PairSplit, labels: int | None
) -> None:
    """Neither in validation pairs nor in test pairs, whose true labels are unrelated to them."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        train = split.train.take(rng.permutation(len(split.train))[:labels])
        shuffled = replace(
            split,
            train=LabelledPairs(train.pairs, rng.permutation(train.labels)),
            validation=LabelledPairs(
                split.validation.pairs, rng.permutation(split.validation.labels)
            ),
        )
        scorer = _fitted(planted, shuffled, SequiturSettings(**SMALL))
        asked = shuffled.validation
        found.append(auc(asked.labels, scorer.score(asked.pairs)))
    assert abs(np.mean(found) - 0.5) < 0.1


def test_without_validation_pairs_nothing_is_calibrated(planted: Course, split: PairSplit) -> None:
    few = replace(split, train=split.train.take(np.arange(30)), validation=LabelledPairs.empty())
    scorer = _fitted(planted, few, SequiturSettings(**SMALL))
    assert (scorer.slope, scorer.report.threshold) == (1.0, 0.5)
    assert np.isfinite(scorer.score(split.test.pairs)).all()


def _fitted(planted: Course, split: PairSplit, settings: SequiturSettings) -> SequiturScorer:
    scorer = SequiturScorer(settings, device="cpu")
    scorer.fit(gather_evidence(planted)[0], split, seed=0)
    return scorer


def test_probabilities_mean_what_they_say(
    fitted: tuple[SequiturScorer, FitReport], split: PairSplit
) -> None:
    p = fitted[0].score(split.test.pairs)
    assert abs(p.mean() - split.test.labels.mean()) < 0.1


def without(concepts: IntArray, evidence: Evidence) -> tuple[Evidence, IntArray]:
    """Give a course in which these concepts do not occur, and the other concepts' new rows."""
    kept = np.setdiff1d(np.arange(evidence.concept_count), concepts)
    row = np.full(evidence.concept_count, -1)
    row[kept] = np.arange(len(kept))
    B, M = evidence.transitions, evidence.incidence
    assert B is not None
    assert M is not None
    return Evidence(evidence.features[kept], B[kept][:, kept], M[kept]), row


def test_concepts_it_never_met_are_placed_by_their_texts() -> None:
    course = load_course("campus")
    evidence = gather_evidence(course, "wordllama")[0]
    labelled = course.labelled_pairs()
    met_later = np.arange(0, len(course), 6)
    rest, row = without(met_later, evidence)
    known = ~np.isin(labelled.pairs, met_later).any(axis=1)
    asked = np.isin(labelled.pairs, met_later).sum(axis=1) == 1
    split = grouped_split(
        LabelledPairs(row[labelled.pairs[known]], labelled.labels[known]),
        fractions=(0.8, 0.2, 0.0),
        seed=0,
    )
    scorer = SequiturScorer(SequiturSettings(trees=50, folds=4), device="cpu")
    scorer.fit(rest, split, seed=0)

    row[met_later] = rest.concept_count + np.arange(len(met_later))
    joined = scorer.joined_by(evidence.features[met_later])
    pairs, labels = row[labelled.pairs[asked]], labelled.labels[asked]
    assert auc(labels, joined.score(pairs)) > 0.8
    assert scorer.judge.table.evidence.concept_count == rest.concept_count  # as it was


def test_what_was_known_before_is_judged_as_before(
    fitted: tuple[SequiturScorer, FitReport], split: PairSplit
) -> None:
    """But for the little that one more text shifts the mean of all."""
    scorer, _ = fitted
    joined = scorer.joined_by(scorer.judge.table.evidence.features[:1])
    np.testing.assert_allclose(
        joined.score(split.test.pairs), scorer.score(split.test.pairs), atol=0.1
    )


def test_too_many_concepts_are_refused(split: PairSplit) -> None:
    scorer = SequiturScorer(SequiturSettings(), device="cpu")
    with pytest.raises(ProprlError, match="at most 5,000"):
        scorer.fit(Evidence(np.zeros((5_001, 1))), split, seed=0)


def test_normal_scores_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=500), rng.integers(0, 3, 500), np.ones(500)])
    line = Line(np.quantile(x, np.linspace(0, 1, 100), axis=0), np.zeros(4))
    theirs = QuantileTransformer(n_quantiles=100, output_distribution="normal").fit_transform(x)
    inner = np.abs(theirs) < 3  # they cut the ends off elsewhere
    np.testing.assert_allclose(line.normal_scores(x)[inner], theirs[inner], atol=1e-6)


@pytest.mark.parametrize(
    "removed",
    [
        {"learners": "trees"},
        {"learners": "line"},
        {"sources": "course"},
        {"sources": "labels"},
        {"newcomers": False},
        {"roles": False},
        {"dealt": 1},
    ],
)
def test_a_part_that_is_removed_is_really_gone(
    planted: Course, split: PairSplit, removed: dict[str, Any]
) -> None:
    scorer = SequiturScorer(SequiturSettings(**SMALL, **removed), device="cpu")
    report = scorer.fit(gather_evidence(planted)[0], split, seed=0)
    pairs = split.test.pairs
    assert " and ".join(scorer.details(pairs)) == removed.get("learners", "trees and line")
    if removed.get("sources") == "course":
        assert not any("label" in name or "known" in name for name in scorer.judge.table.names)
    if removed.get("sources") == "labels":
        assert not any(
            name.startswith(("text", "moves", "resources")) for name in scorer.judge.table.names
        )
    own = scorer.judge.of_newcomers is not None
    assert own == removed.get("newcomers", True)
    names = " ".join(scorer.judge.table.names)
    assert ("by roles" in names) == (removed not in ({"roles": False}, {"sources": "course"}))
    kept = SequiturScorer.restore(scorer.settings, scorer.state(), report, device="cpu")
    np.testing.assert_array_equal(kept.score(pairs), scorer.score(pairs))


def test_the_order_of_resources_is_kept_and_can_be_switched_off(
    planted: Course, split: PairSplit
) -> None:
    evidence = gather_evidence(planted)[0]
    assert evidence.incidence is not None
    ordered = replace(evidence, resource_links=np.eye(evidence.incidence.shape[1], k=1))
    pairs, names = split.test.pairs, {}
    for on in (True, False):
        scorer = SequiturScorer(SequiturSettings(**SMALL, resource_order=on), device="cpu")
        report = scorer.fit(ordered, split, seed=0)
        names[on] = set(scorer.judge.table.names)
        kept = SequiturScorer.restore(scorer.settings, scorer.state(), report, device="cpu")
        np.testing.assert_array_equal(kept.score(pairs), scorer.score(pairs))
        newcomer = scorer.joined_by(np.ones((1, evidence.features.shape[1])))
        assert newcomer.score(np.array([[0, evidence.concept_count]])).shape == (1,)
    assert {name.split(",")[0] for name in names[True] - names[False]} == {
        "steps between resources",
        "resources rather first of the source",
        "resources rather first of the target",
        "resources rather first",
    }


def test_passages_are_a_second_likeness_of_texts_and_can_be_switched_off(
    planted: Course, split: PairSplit
) -> None:
    evidence = gather_evidence(planted)[0]
    passages = np.random.default_rng(0).normal(size=evidence.features.shape)
    passages[:3] = 0
    pairs, names = split.test.pairs, {}
    for on in (True, False):
        scorer = SequiturScorer(SequiturSettings(**SMALL, passages=on), device="cpu")
        report = scorer.fit(replace(evidence, passages=passages), split, seed=0)
        names[on] = set(scorer.judge.table.names)
        kept = SequiturScorer.restore(scorer.settings, scorer.state(), report, device="cpu")
        np.testing.assert_array_equal(kept.score(pairs), scorer.score(pairs))
        newcomer = scorer.joined_by(np.ones((1, evidence.features.shape[1])))
        assert newcomer.score(np.array([[0, evidence.concept_count]])).shape == (1,)
        if on:
            joined = newcomer.judge.table.evidence.passages
            np.testing.assert_array_equal(
                joined, np.vstack([passages, 0 * passages[:1]]).astype("f4")
            )
            assert report.facts["concepts with passages"] == len(passages) - 3
    assert names[True] > names[False]
    assert all("by passages" in name for name in names[True] - names[False])


@pytest.fixture(scope="module")
def read(planted: Course) -> Evidence:
    """The planted course with readings that tell the level of a concept, and nothing else."""
    rng = np.random.default_rng(0)
    # The seed of the planted course draws its levels first.
    level = np.random.default_rng(3).permutation(60) / 60
    readings = 3 * np.outer(level, rng.normal(size=48)) + rng.normal(size=(60, 48))
    return replace(gather_evidence(planted)[0], readings=readings)


def test_readings_order_pairs_and_are_kept(read: Evidence, split: PairSplit) -> None:
    scorer = SequiturScorer(SequiturSettings(**SMALL), device="cpu")
    report = scorer.fit(read, split, seed=0)
    judge, pairs = scorer.judge, split.test.pairs
    order = judge.table.order(pairs)
    said, reverse = judge._said(pairs), judge._said(pairs[:, ::-1].copy())
    for name, z in judge.logits(pairs).items():
        np.testing.assert_allclose(z, ordered_logits(said[name], reverse[name], order), rtol=1e-4)
    kept = SequiturScorer.restore(scorer.settings, scorer.state(), report, device="cpu")
    np.testing.assert_array_equal(kept.score(pairs), scorer.score(pairs))


def test_pairs_drawn_like_the_labelled_ones_are_not_ordered(
    read: Evidence, split: PairSplit
) -> None:
    scorer = SequiturScorer(SequiturSettings(**SMALL, reverse_labels="both"), device="cpu")
    scorer.fit(read, split, seed=0)
    assert not scorer.judge.table.tells_order


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_readings_of_any_scale_tell_the_same(
    read: Evidence, split: PairSplit, scale: float
) -> None:
    assert read.readings is not None
    orders = []
    for readings in (read.readings, scale * read.readings):
        scorer = SequiturScorer(SequiturSettings(**SMALL), device="cpu")
        table = scorer._table(scorer._kept(replace(read, readings=readings)), split.train)
        orders.append(table.order(split.test.pairs))
    np.testing.assert_allclose(*orders, atol=2e-3)


def test_readings_tell_the_order_where_nothing_else_does(read: Evidence, split: PairSplit) -> None:
    """Features that mean nothing, no moves, no resources, and a fifth of the labels."""
    blank = Evidence(np.random.default_rng(1).normal(size=(60, 8)))
    few = split.train.take(np.arange(0, len(split.train), 5))
    positives, share = split.test.positives, {}
    for readings in (None, read.readings):
        scorer = SequiturScorer(SequiturSettings(**SMALL), device="cpu")
        scorer.fit(replace(blank, readings=readings), replace(split, train=few), seed=0)
        ordered = scorer.score(positives) > scorer.score(positives[:, ::-1].copy())
        share[readings is not None] = ordered.mean()
    assert share[True] > share[False] + 0.1


@pytest.mark.parametrize("readings", [np.ones((60, 1)), "level"])
def test_a_known_label_of_the_reverse_does_not_come_in_by_way_of_the_order(
    read: Evidence, readings: Any
) -> None:
    """Labels mean nothing, and pairs are asked about that are known the other way round."""
    rng = np.random.default_rng(0)
    every = np.array([(a, b) for a in range(60) for b in range(a)])
    pairs = rng.permutation(every)[:400]
    turn = rng.random(400) < 0.5
    pairs[turn] = pairs[turn][:, ::-1]
    labels = rng.integers(0, 2, 400)
    train, validation = (LabelledPairs(pairs[p], labels[p]) for p in (slice(300), slice(300, 400)))
    asked = LabelledPairs(train.pairs[:, ::-1], 1 - train.labels)
    evidence = Evidence(
        rng.normal(size=(60, 16)),
        readings=read.readings if isinstance(readings, str) else readings,
    )
    settings = SequiturSettings(trees=60, folds=5, reverse_labels="none")
    scorer = SequiturScorer(settings, device="cpu")
    split = PairSplit(train, validation, asked, "published", promises_reversed=False)
    scorer.fit(evidence, split, seed=0)
    assert 0.4 < auc(asked.labels, scorer.score(asked.pairs)) < 0.6


def test_a_new_concept_may_have_a_reading_or_none(read: Evidence, split: PairSplit) -> None:
    scorer = SequiturScorer(SequiturSettings(**SMALL), device="cpu")
    scorer.fit(read, split, seed=0)
    assert read.readings is not None
    text, new = np.ones((1, read.features.shape[1])), read.concept_count
    pair = np.array([[0, new]])
    without = scorer.joined_by(text)
    joined = without.judge.table.evidence.readings
    np.testing.assert_array_equal(joined, np.vstack([read.readings, np.zeros(48)]).astype("f2"))
    scores = [scorer.joined_by(text, read.readings[[like]]).score(pair)[0] for like in (3, 40)]
    assert len({*scores, without.score(pair)[0]}) == 3
    orders = [one.judge.table.order(split.test.pairs) for one in (scorer, without)]
    np.testing.assert_allclose(*orders, atol=1e-6)  # those it knows stay in their order


def test_settings_say_who_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SequiturSettings().reader == "none"
    monkeypatch.setenv("PROPRL_READER", "language-model:some folder")
    assert SequiturSettings().reader == "language-model:some folder"
    assert SequiturSettings().read_by == "language-model:some folder"
    assert SequiturSettings(reader="none").read_by == "none"
    # What is read tells the order. Without labels nothing is learned from it, and where every
    # known reverse counts, the order is known or does not matter.
    assert SequiturSettings(sources="course").read_by == "none"
    assert SequiturSettings(reverse_labels="both").read_by == "none"


def test_slope_and_intercept_are_those_of_a_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    labels = (rng.random(300) < expit(2 * z - 0.5)).astype(np.int64)
    theirs = LogisticRegression(C=10.0, tol=1e-8).fit(z[:, None], labels)
    found = fitted_sigmoid(z, np.zeros(300), labels)
    np.testing.assert_allclose(found, [theirs.coef_[0, 0], theirs.intercept_[0]], atol=1e-4)


@pytest.mark.parametrize("which", ["positive", "both"])
def test_reverses_count_in_calibration_only_if_pairs_are_drawn_like_labelled_ones(
    planted: Course, split: PairSplit, which: Any
) -> None:
    asked = split.validation
    reverses = LabelledPairs(asked.pairs[:, ::-1], 1 - asked.labels)
    train = LabelledPairs(
        np.concatenate([split.train.pairs, reverses.pairs]),
        np.concatenate([split.train.labels, reverses.labels]),
    )
    scorer = _fitted(
        planted, replace(split, train=train), SequiturSettings(**SMALL, reverse_labels=which)
    )
    z, r = scorer._z(asked.pairs), scorer.rehearsal.reverses.z(asked.pairs)
    assert (r < 0).any()
    counted = r if which == "both" else 0 * r
    assert (scorer.slope, scorer.intercept) == fitted_sigmoid(z, counted, asked.labels)
    p = expit(scorer.slope * z + scorer.intercept + counted)
    best = f1(asked.labels, p, best_threshold(asked.labels, p))
    assert scorer.report.threshold == best / 2


def test_what_known_reverses_explain_is_not_blamed_on_the_others() -> None:
    """Half of the negatives are ruled out by a reverse; of the rest two thirds are positive."""
    z = np.zeros(100)
    labels = np.repeat([1, 0, 0], [50, 25, 25])
    ruled_out = np.where(np.arange(100) >= 75, -9.0, 0.0)
    _, intercept = fitted_sigmoid(z, ruled_out, labels)
    assert expit(intercept) == pytest.approx(2 / 3, abs=0.01)


def test_without_labels_of_other_pairs_no_label_changes_a_row(
    planted: Course, split: PairSplit
) -> None:
    evidence = gather_evidence(planted)[0]
    rows = [
        EvidenceTable(evidence, known, sources="course").rows(split.test.pairs)
        for known in (split.train, LabelledPairs(split.train.pairs, 1 - split.train.labels))
    ]
    np.testing.assert_array_equal(*rows)
