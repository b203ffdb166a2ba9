"""The one fit: where its background comes from, and what makes its scores probabilities."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from scipy.special import expit, logit

from proprl import calibrating
from proprl.arrays import FloatArray, IntArray
from proprl.calibrating import HELD_OUT, RATE_OF_NEW, Fit, fit_scorer
from proprl.data import Course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, grouped_split
from proprl.errors import TrainingError
from proprl.evaluation.base_rate import fit_to_labels, fit_to_map, log_odds
from proprl.evaluation.metrics import best_threshold
from proprl.features.gather import gather_evidence
from proprl.fitting import auto_background
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport, PairScorer
from proprl.models.registry import method, method_settings
from proprl.pairs.background import background_pool, draw_background, open_pairs

QUICK: dict[str, dict[str, Any]] = {"sequitur": {"trees": 15}, "svm": {}, "refd": {}}
PAIRS = np.array([(a, b) for a in range(60) for b in range(60) if a != b])


@pytest.fixture(scope="module")
def evidence(planted: Course) -> Evidence:
    return gather_evidence(planted)[0]


@pytest.fixture(scope="module")
def split(planted: Course) -> PairSplit:
    return grouped_split(planted.labelled_pairs(), fractions=(0.6, 0.2, 0.2), seed=0)


def known(split: PairSplit) -> LabelledPairs:
    return split.train.joined(split.validation)


def fitted(name: str, evidence: Evidence, split: PairSplit, background: IntArray | None) -> Fit:
    scorer = method(name)(method_settings(name, **QUICK[name]), device="cpu")
    return fit_scorer(scorer, evidence, split, background=background, seed=0)


def fitted_on_drawn(name: str, evidence: Evidence, split: PairSplit) -> Fit:
    return fitted(name, evidence, split, auto_background(name, known(split), 60, seed=0))


@pytest.fixture(scope="module")
def with_background(evidence: Evidence, split: PairSplit) -> dict[str, Fit]:
    return {name: fitted_on_drawn(name, evidence, split) for name in QUICK}


@pytest.fixture(scope="module")
def without(evidence: Evidence, split: PairSplit) -> dict[str, Fit]:
    return {name: fitted(name, evidence, split, None) for name in QUICK}


# Of methods as they are


@pytest.mark.parametrize("name", QUICK)
def test_scores_are_probabilities(
    name: str, with_background: dict[str, Fit], without: dict[str, Fit]
) -> None:
    for fit in (with_background[name], without[name]):
        p = fit.score(PAIRS)
        assert p.shape == (len(PAIRS),)
        assert ((p >= 0) & (p <= 1)).all()
        assert fit.score(PAIRS[:0]).shape == (0,)


@pytest.mark.parametrize("name", ["sequitur", "svm"])
def test_with_background_a_fit_knows_how_rare_prerequisites_are(
    name: str, with_background: dict[str, Fit], without: dict[str, Fit]
) -> None:
    calibration = with_background[name].calibration
    assert calibration is not None
    low, high = calibration.interval or (0, 0)
    assert 0 < low <= (calibration.base_rate or 0) <= high < 0.5
    # Of pairs without a label one in seventeen is a prerequisite; half of the labels are.
    p, before = with_background[name].score(PAIRS), without[name].score(PAIRS)
    assert p.mean() < before.mean()
    assert calibration.expected_open == pytest.approx(
        (calibration.base_rate or 0) * calibration.open_pairs
    )


@pytest.mark.parametrize("name", ["sequitur", "svm"])
def test_scores_are_turned_into_probabilities_and_keep_their_order(
    name: str, with_background: dict[str, Fit]
) -> None:
    fit = with_background[name]
    assert fit.calibration is not None
    said, p = fit.scorer.score(PAIRS), fit.score(PAIRS)
    z = logit(said).clip(-12, 12)
    np.testing.assert_allclose(p, expit(fit.calibration.slope * z + fit.calibration.intercept))
    assert (np.diff(p[np.argsort(said)]) >= 0).all()


def test_a_method_that_takes_no_background_is_taken_at_its_word(
    with_background: dict[str, Fit], evidence: Evidence, split: PairSplit
) -> None:
    """RefD: "auto" means none, pairs are refused, and its own scores stand."""
    fit = with_background["refd"]
    assert (fit.calibration, fit.held_out) == (None, None)
    np.testing.assert_array_equal(fit.score(PAIRS), fit.scorer.score(PAIRS))
    with pytest.raises(TrainingError, match="refd takes no background"):
        fitted("refd", evidence, split, background_pool(known(split), 60))


def test_without_background_sequitur_is_calibrated_on_all_labels_as_people_pick_them(
    without: dict[str, Fit], split: PairSplit
) -> None:
    fit = without["sequitur"]
    assert fit.calibration is not None
    assert fit.held_out is not None
    assert fit.held_out.labels == known(split)
    expected = fit_to_labels(log_odds(fit.held_out.scores), known(split).labels)
    assert fit.calibration == expected
    assert fit.calibration.base_rate is None
    assert fit.calibration.believed is None
    p = fit.calibration.probability(fit.held_out.scores)
    assert p.mean() == pytest.approx(known(split).positive_share, abs=0.02)


def test_without_background_other_methods_are_taken_as_they_are(without: dict[str, Fit]) -> None:
    fit = without["svm"]
    assert (fit.calibration, fit.held_out) == (None, None)
    np.testing.assert_array_equal(fit.score(PAIRS), fit.scorer.score(PAIRS))


@pytest.mark.parametrize("name", ["sequitur", "svm"])
def test_the_threshold_is_the_best_on_labels_that_were_not_learned_from(
    name: str, with_background: dict[str, Fit]
) -> None:
    fit = with_background[name]
    assert fit.held_out is not None
    assert fit.calibration is not None
    labels = fit.held_out.labels.labels
    p = fit.calibration.probability(fit.held_out.scores)
    assert fit.report.threshold == best_threshold(labels, p)


@pytest.mark.parametrize("name", QUICK)
def test_the_same_fit_gives_the_same_answer(
    name: str, with_background: dict[str, Fit], evidence: Evidence, split: PairSplit
) -> None:
    again = fitted_on_drawn(name, evidence, split)
    assert again.calibration == with_background[name].calibration
    assert again.report.threshold == with_background[name].report.threshold
    one, other = again.scorer.state(), with_background[name].scorer.state()
    assert {k: np.asarray(v).tobytes() for k, v in one.items()} == {
        k: np.asarray(v).tobytes() for k, v in other.items()
    }


def test_sequitur_learns_from_every_label_and_all_background(
    with_background: dict[str, Fit], split: PairSplit
) -> None:
    """It judges by cross-fitting, and needs to keep nothing back."""
    fit, drawn = with_background["sequitur"], draw_background(known(split), 60, seed=0)
    assert fit.held_out is not None
    assert len(fit.held_out.background) == len(drawn)
    assert len(fit.held_out.scores) == len(known(split))


# Concepts that no label is about


FEW_KNOWN = 40
"""Labels between so many of the 60 concepts are known; nobody has looked at the other 20."""


@pytest.fixture(scope="module")
def partly(evidence: Evidence, split: PairSplit) -> Fit:
    train = split.train.take(np.flatnonzero((split.train.pairs < FEW_KNOWN).all(axis=1)))
    here = replace(split, train=train, validation=LabelledPairs.empty())
    return fitted_on_drawn("sequitur", evidence, here)


def test_pairs_of_new_concepts_are_held_to_half_the_base_rate(partly: Fit) -> None:
    old, new = partly.calibration, partly.calibration_of_new
    assert old is not None
    assert new is not None
    assert partly.held_out is not None
    assert new.base_rate == pytest.approx((old.base_rate or 0) * RATE_OF_NEW)
    assert new.probability(partly.held_out.of_new).mean() == pytest.approx(new.base_rate)
    assert new.slope == old.slope


def test_what_is_expected_is_what_the_probabilities_add_up_to(partly: Fit) -> None:
    """Nothing is promised that is not counted as expected."""
    assert partly.calibration_of_new is not None
    pool = np.array([pair for pair in PAIRS if not np.isin(pair, partly.labelled).all()])
    expected = partly.calibration_of_new.expected_open
    assert partly.score(pool).sum() == pytest.approx(expected, rel=0.15)


def test_what_is_believed_is_expected_to_be_best_on_the_whole_map(
    partly: Fit, split: PairSplit
) -> None:
    """However few pairs were scored: each stands for as many as there are of its kind."""
    assert partly.held_out is not None
    labels = split.train.take(np.flatnonzero((split.train.pairs < FEW_KNOWN).all(axis=1)))
    few = replace(partly.held_out, of_new=partly.held_out.of_new[::40])
    old, new = calibrating.calibrations(few, labels, 60)
    assert new is not None
    of_kind = [(old, old.probability(few.background)), (new, new.probability(few.of_new))]

    def expected_f1(threshold: float) -> float:
        right = believed = in_all = 0.0
        for one, p in of_kind:
            each = one.open_pairs / len(p)
            right += each * p[p >= threshold].sum()
            believed += each * (p >= threshold).sum()
            in_all += each * p.sum()
        return 2 * right / (believed + in_all)

    best = max(np.concatenate([p for _, p in of_kind]), key=expected_f1)
    assert old.believed == new.believed == best


def test_each_pair_has_the_calibration_of_its_concepts(partly: Fit) -> None:
    a, b = partly.labelled[:2].tolist()
    assert partly.calibration_for(np.array([[a, b]])) == partly.calibration
    assert partly.calibration_for(np.array([[a, 59]])) == partly.calibration_of_new
    assert partly.calibration_for(np.array([[59, 58]])) == partly.calibration_of_new


def test_where_every_concept_has_a_label_there_is_one_calibration(
    with_background: dict[str, Fit],
) -> None:
    assert len(with_background["sequitur"].labelled) == 60
    assert with_background["sequitur"].calibration_of_new is None


def test_who_expects_more_prerequisites_promises_more_everywhere(
    partly: Fit, split: PairSplit
) -> None:
    labels = split.train.take(np.flatnonzero((split.train.pairs < FEW_KNOWN).all(axis=1)))
    few, many = (partly.with_prior((logit(rate), 0.7), labels, 60) for rate in (0.01, 0.1))
    new = np.array([[a, 59] for a in range(40)])
    for pairs in (PAIRS, new):
        assert few.score(pairs).sum() < many.score(pairs).sum()


# What is lent to a method, and what is kept


class Listener:
    """A method that notes what it is given; a pair's score is of its concepts alone."""

    takes_background = True

    def __init__(self) -> None:
        self.given: IntArray | None = None
        self.seed = -1

    def fit(self, _evidence: Evidence, _split: PairSplit, **said: Any) -> FitReport:
        self.given, self.seed = said["background"], said["seed"]
        return FitReport(threshold=0.4)

    def score(self, pairs: IntArray) -> FloatArray:
        a, b = pairs.T
        return (1 + np.sin(7 * a + 3 * b)) / 2


def listened(split: PairSplit, background: IntArray | None, n: int = 12) -> tuple[Listener, Fit]:
    scorer = Listener()
    scored = cast(PairScorer, scorer)
    with pytest.MonkeyPatch.context() as patch:  # an interval takes a while, and is not looked at
        patch.setattr(calibrating, "fit_to_map", partial(fit_to_map, resamples=0))
        fit = fit_scorer(scored, Evidence(np.eye(n)), split, background=background, seed=9)
    return scorer, fit


def drawn(split: PairSplit, n: int = 12) -> IntArray:
    return draw_background(known(split), n, seed=9)


def parts(train: Any, validation: Any) -> PairSplit:
    def labelled(triples: Any) -> LabelledPairs:
        table = np.array(triples, dtype=np.int64).reshape(-1, 3)
        return LabelledPairs(table[:, :2], table[:, 2])

    return PairSplit(
        labelled(train),
        labelled(validation),
        LabelledPairs.empty(),
        "random",
        promises_reversed=False,
    )


TRAIN = [(0, 1, 1), (2, 3, 1), (4, 5, 0), (6, 7, 0), (8, 9, 1)]
VALIDATION = [(10, 11, 1), (0, 5, 0), (3, 8, 1), (1, 6, 0)]


def test_a_tenth_of_the_background_is_kept_to_calibrate_by() -> None:
    split = parts(TRAIN, VALIDATION)
    pool = background_pool(known(split), 12)
    scorer, fit = listened(split, pool)
    assert scorer.given is not None
    assert fit.held_out is not None
    kept = {tuple(p) for p in pool.tolist()} - {tuple(p) for p in scorer.given.tolist()}
    assert len(kept) == -(-len(pool) // HELD_OUT)
    expected = scorer.score(np.array(sorted(kept)))
    np.testing.assert_array_equal(np.sort(fit.held_out.background), np.sort(expected))
    assert fit.held_out.labels == split.validation
    np.testing.assert_array_equal(fit.held_out.scores, scorer.score(split.validation.pairs))


@pytest.mark.parametrize(("count", "kept"), [(150, 15), (300, 100), (900, 100), (1500, 150)])
def test_of_little_background_more_than_a_tenth_is_kept(count: int, kept: int) -> None:
    """A hundred pairs, if that leaves as many to learn from; fewer could not tell how rare."""
    split = parts(TRAIN, VALIDATION)
    background = np.argwhere(open_pairs(known(split), 40))[:count]
    scorer, fit = listened(split, background, n=40)
    assert scorer.given is not None
    assert fit.held_out is not None
    assert (len(background), len(fit.held_out.background)) == (count, kept)
    assert len(scorer.given) == count - kept


def test_no_background_is_no_background() -> None:
    scorer, fit = listened(parts(TRAIN, VALIDATION), None)
    assert scorer.given is None
    assert (fit.calibration, fit.held_out, fit.report.threshold) == (None, None, 0.4)


def test_where_validation_is_too_small_the_threshold_is_that_of_the_method() -> None:
    split = parts(TRAIN, VALIDATION)
    assert listened(split, drawn(split))[1].report.threshold == 0.4


def test_where_little_is_open_labels_alone_calibrate() -> None:
    """Nothing at all, and a tenth of few pairs."""
    every = [(a, b, int(a < b)) for a in range(4) for b in range(4) if a != b]
    for split, n in ((parts(every[::2], every[1::2]), 4), (parts(TRAIN, VALIDATION), 12)):
        scorer, fit = listened(split, drawn(split, n), n)
        expected = scorer.score(split.validation.pairs)
        assert fit.calibration == fit_to_labels(log_odds(expected), split.validation.labels)


def test_a_negative_that_turns_a_training_positive_round_does_not_count() -> None:
    """It says which order is right, and nothing of how rare prerequisites are."""
    turned, other = ([*VALIDATION, (*pair, 0)] for pair in ((1, 0), (9, 5)))
    background = np.argwhere(open_pairs(known(parts(TRAIN, [*turned, *other])), 40))
    alone, with_it, with_other = (
        listened(parts(TRAIN, validation), background, n=40)[1].calibration
        for validation in (VALIDATION, turned, other)
    )
    assert alone is not None
    assert with_it is not None
    assert with_other is not None
    assert (with_it.slope, with_it.intercept) == (alone.slope, alone.intercept)
    assert (with_other.slope, with_other.intercept) != (alone.slope, alone.intercept)
