"""From scores to probabilities that hold for a whole map, and to how many prerequisites it has."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import expit, logit

from proprl import calibrating
from proprl.arrays import FloatArray, IntArray
from proprl.calibrating import calibrated
from proprl.data.splits.labelled import ASKED, CHOSEN, DRAWN, LabelledPairs
from proprl.evaluation import base_rate
from proprl.evaluation.base_rate import (
    PRIOR_DEVIATION,
    PRIOR_MEAN,
    SLOPE_DEVIATION,
    SUREST,
    Calibration,
    Scored,
    at_rate,
    best_expected_f1,
    fit_to_labels,
    fit_to_map,
    log_odds,
)
from proprl.models.base import HeldOut

# What is true of the made-up map: p = σ(1.3 z - 2), which reaches from nearly 0 to nearly 1.
SLOPE, INTERCEPT = 1.3, -2.0


@pytest.fixture(autouse=True)
def _no_interval_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test does not look at it: it takes fifty times as long as the rest."""
    monkeypatch.setattr(calibrating, "fit_to_map", partial(fit_to_map, resamples=0))


def made_up(
    seed: int, *, of_each: int = 4_000, background: int = 20_000, centre: float = -4.0
) -> tuple[Scored, float]:
    """Scores of a map in which people picked as many prerequisites as others; its base rate."""
    rng = np.random.default_rng(seed)
    z = rng.normal(centre, 3.0, size=400_000)
    true = rng.random(len(z)) < expit(SLOPE * z + INTERCEPT)
    pick = rng.choice
    scored = Scored(pick(z[true], of_each), pick(z[~true], of_each), pick(z, background))
    return scored, float(true.mean())


# What is found again


@pytest.mark.parametrize(("centre", "one_in"), [(-4.0, 21), (-6.0, 87)])
def test_slope_intercept_and_base_rate_are_found_from_picked_labels(
    centre: float, one_in: float
) -> None:
    """Half of the labels are positive, and a few pairs in a hundred are."""
    scored, truth = made_up(0, centre=centre)
    assert 1 / truth == pytest.approx(one_in, rel=0.1)
    assert len(scored.positive) == len(scored.negative)
    found = fit_to_map(scored, open_pairs=1_000, resamples=0)
    assert found.slope == pytest.approx(SLOPE, rel=0.1)
    assert found.intercept == pytest.approx(INTERCEPT, abs=0.35)
    assert found.base_rate == pytest.approx(truth, rel=0.2)
    assert found.expected_open == pytest.approx(1_000 * found.base_rate)
    # Scores in [0, 1] become probabilities by their log-odds.
    z = np.array([-3.0, 0.0, 2.0])
    expected = expit(found.slope * z + found.intercept)
    np.testing.assert_allclose(found.probability(expit(z)), expected)


def test_the_interval_holds_the_truth() -> None:
    held = 0
    for seed in range(4):
        scored, truth = made_up(seed, of_each=300, background=3_000)
        low, high = fit_to_map(scored, 1, resamples=20).interval or (0, 0)
        held += low <= truth <= high < 3 * truth
    assert held >= 3


def test_the_same_labels_give_the_same_interval() -> None:
    scored, _ = made_up(0, of_each=100, background=500)
    assert fit_to_map(scored, 1, resamples=5) == fit_to_map(scored, 1, resamples=5)


@given(st.integers(0, 2**32 - 1), st.floats(-4, 4), st.floats(-5, 5), st.integers(0, 20))
@settings(max_examples=30)
def test_the_gradient_is_that_of_the_likelihood(
    seed: int, slope: float, intercept: float, drawn: int
) -> None:
    rng = np.random.default_rng(seed)
    scored = Scored(
        rng.normal(1, 2, 30),
        rng.normal(-1, 2, 25),
        rng.normal(-3, 2, 200),
        rng.normal(-3, 2, drawn),
        rng.integers(0, 2, drawn).astype(float),
        rng.uniform(1, 5, drawn),
    )
    loss = the_loss(scored)
    at = np.array([slope / 2, intercept])  # the first is the logarithm of the slope
    by_differences = approx_fprime(at, lambda parameters: loss(parameters)[0], 1e-6)
    np.testing.assert_allclose(loss(at)[1], by_differences, rtol=1e-3, atol=0.05)


def the_loss(scored: Scored) -> Any:
    """Minus the log posterior and its gradient, as they are handed to the search."""
    taken: list[Any] = []

    class Found:
        x = np.zeros(2)

    def search(loss: Any, *_: Any, **__: Any) -> type[Found]:
        taken.append(loss)
        return Found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base_rate, "minimize", search)
        fit_to_map(scored, 1, resamples=0)
    return taken[0]


def test_the_posterior_is_that_of_the_issue() -> None:
    """Chosen positives ∝ p/π, chosen negatives ∝ (1 - p)/(1 - π), drawn ones by their weight."""
    background = np.array([-1.0, 0.5])
    scored = Scored(
        np.array([1.0]),
        np.array([-2.0]),
        background,
        drawn=np.array([0.25]),
        drawn_labels=np.array([1.0]),
        drawn_weights=np.array([4.0]),
    )
    slope, intercept = 2.0, -0.5

    def p(z: float) -> float:
        return 1 / (1 + np.exp(-(slope * z + intercept)))

    rate = (p(-1.0) + p(0.5)) / 2
    likelihood = p(1.0) / rate * (1 - p(-2.0)) / (1 - rate) * p(0.25) ** 4
    away = (np.log(rate / (1 - rate)) - PRIOR_MEAN) / PRIOR_DEVIATION
    pull = np.log(slope) / SLOPE_DEVIATION
    expected = -np.log(likelihood) + away**2 / 2 + pull**2 / 2
    value, _ = the_loss(scored)(np.array([np.log(slope), intercept]))
    assert value == pytest.approx(expected)


# Where labels come from


def test_labels_that_were_drawn_pin_the_base_rate() -> None:
    """Scores that tell nothing leave it to the prior; a few hundred drawn labels say it."""
    rng = np.random.default_rng(0)
    useless = Scored(rng.normal(size=300), rng.normal(size=300), rng.normal(size=5_000))
    z, labels = rng.normal(size=600), (np.arange(600) % 5 == 0).astype(float)
    pinned = Scored(useless.positive, useless.negative, useless.background, z, labels, np.ones(600))
    without, with_them = (fit_to_map(scored, 1, resamples=20) for scored in (useless, pinned))
    assert with_them.base_rate == pytest.approx(0.2, abs=0.02)
    low, high = with_them.interval or (0, 0)
    assert low < 0.2 < high < low + 0.1
    assert without.base_rate != pytest.approx(0.2, abs=0.02)


def test_drawn_labels_count_by_one_over_their_chance() -> None:
    """Of pairs with high scores each was drawn, of the others one in ten."""
    rng = np.random.default_rng(0)
    z = rng.normal(-2, 2, 20_000)
    true = rng.random(len(z)) < expit(SLOPE * z + INTERCEPT)
    chance = np.where(z > 0, 1.0, 0.1)
    drawn = rng.random(len(z)) < chance
    none = np.empty(0)
    scored = Scored(none, none, z, z[drawn], true[drawn].astype(float), 1 / chance[drawn])
    found = fit_to_map(scored, 1, resamples=0)
    assert true[drawn].mean() > 2 * true.mean()
    assert found.base_rate == pytest.approx(true.mean(), rel=0.1)


def held_out(
    labels: LabelledPairs, scores: FloatArray, background: FloatArray | None = None
) -> HeldOut:
    rng = np.random.default_rng(0)
    drawn = expit(rng.normal(-3, 1, 500)) if background is None else background
    return HeldOut(labels, scores, drawn)


def labelled(pairs: IntArray, labels: Any, origin: str = CHOSEN) -> LabelledPairs:
    chance = np.full(len(pairs), 0.5 if origin == DRAWN else np.nan)
    return LabelledPairs(np.array(pairs), np.array(labels), np.full(len(pairs), origin), chance)


CHAIN = labelled(np.array([(0, 1), (2, 3), (4, 5), (6, 7)]), [1, 1, 0, 0])
SCORES = np.array([0.9, 0.6, 0.2, 0.4])


def same(one: Calibration, other: Calibration) -> bool:
    return np.allclose([one.slope, one.intercept], [other.slope, other.intercept], rtol=1e-6)


def test_labels_that_a_model_asked_for_do_not_count() -> None:
    alone = calibrated(held_out(CHAIN, SCORES), CHAIN, 10)
    more = labelled(np.array([(0, 8), (8, 9)]), [1, 0], ASKED)
    asked = calibrated(
        held_out(CHAIN.joined(more), np.append(SCORES, [0.01, 0.99])), CHAIN.joined(more), 10
    )
    assert same(alone, asked)
    chosen = CHAIN.joined(labelled(more.pairs, more.labels))
    counted = calibrated(held_out(chosen, np.append(SCORES, [0.01, 0.99])), chosen, 10)
    assert not same(alone, counted)


def test_negatives_that_are_positives_turned_round_do_not_count() -> None:
    alone = calibrated(held_out(CHAIN, SCORES), CHAIN, 10)
    turned = CHAIN.joined(labelled(np.array([(1, 0), (3, 2)]), [0, 0]))
    assert same(alone, calibrated(held_out(turned, np.append(SCORES, [0.99, 0.9])), turned, 10))
    # The reverse of a negative tells something.
    other = CHAIN.joined(labelled(np.array([(5, 4)]), [0]))
    assert not same(alone, calibrated(held_out(other, np.append(SCORES, 0.9)), other, 10))


@pytest.mark.parametrize(
    ("chances", "weights"),
    [
        ([0.5] * 4, [1, 1, 1, 1]),
        ([0.5, 0.5, 0.1, 0.1], [1 / 3, 1 / 3, 5 / 3, 5 / 3]),
    ],
)
def test_drawn_labels_count_as_drawn_and_not_as_chosen(
    chances: list[float], weights: list[float]
) -> None:
    """By one over their chance, and on average as much as a chosen one."""
    pairs = np.array([(0, 8), (8, 9), (1, 9), (2, 9)])
    four = replace(labelled(pairs, [1, 0, 0, 0], DRAWN), chance=np.array(chances))
    drawn = CHAIN.joined(four)
    scores = np.append(SCORES, [0.7, 0.1, 0.2, 0.3])
    found = calibrated(held_out(drawn, scores), drawn, 10)
    expected = fit_to_map(
        Scored(
            log_odds(SCORES[:2]),
            log_odds(SCORES[2:]),
            log_odds(held_out(drawn, scores).background),
            log_odds(scores[4:]),
            np.array([1.0, 0, 0, 0]),
            np.array(weights),
        ),
        open_pairs=1,
        resamples=0,
    )
    assert same(found, expected)


def test_a_drawn_label_says_as_much_as_another_however_small_its_chance() -> None:
    """One prerequisite, drawn with a chance of one in a thousand, does not decide the map."""
    one = LabelledPairs(np.array([(0, 8)]), np.array([1]), np.array([DRAWN]), np.array([0.001]))
    known = CHAIN.joined(one)
    alone, with_it = held_out(CHAIN, SCORES), held_out(known, np.append(SCORES, 0.5))
    rate, higher = (
        calibrated(judged, judged.labels, 10).probability(judged.background).mean()
        for judged in (alone, with_it)
    )
    assert rate < higher < 3 * rate


def test_a_hundred_drawn_labels_that_say_no_do_not_rule_everything_out() -> None:
    pairs = np.array([(i, j) for i in range(10, 21) for j in range(21, 31)])[:100]
    few = np.full(100, 0.005)
    no = LabelledPairs(pairs, np.zeros(100, dtype=np.int64), np.full(100, DRAWN), few)
    known = CHAIN.joined(no)
    scores = expit(np.random.default_rng(1).normal(-3, 1, 100))
    alone, with_them = held_out(CHAIN, SCORES), held_out(known, np.append(SCORES, scores))
    rate, lower = (
        calibrated(judged, judged.labels, 31).probability(judged.background).mean()
        for judged in (alone, with_them)
    )
    assert rate / 2 < lower < rate


def test_labels_that_follow_from_others_do_not_count() -> None:
    """They score too high: what follows is no open pair."""
    way = labelled(np.array([(0, 8), (8, 9)]), [1, 1])
    known, scores = CHAIN.joined(way), np.append(SCORES, [0.7, 0.8])
    shortcut = known.joined(labelled(np.array([(0, 9)]), [1]))
    alone = calibrated(held_out(known, scores), known, 10)
    assert same(alone, calibrated(held_out(shortcut, np.append(scores, 0.01)), shortcut, 10))


def test_where_nobody_has_said_no_the_number_of_prerequisites_cannot_be_told() -> None:
    positives = CHAIN.take(np.array([0, 1]))
    found = calibrated(held_out(positives, SCORES[:2]), positives, 10)
    assert (found.base_rate, found.interval, found.believed, found.expected_open) == (None,) * 4


def test_open_pairs_are_counted() -> None:
    # Of 10 · 9 ordered pairs, 4 have a label and 4 are their reverses; nothing follows.
    assert calibrated(held_out(CHAIN, SCORES), CHAIN, 10).open_pairs == 90 - 8


def test_without_background_nothing_is_said_of_the_map() -> None:
    found = calibrated(held_out(CHAIN, SCORES, np.empty(0)), CHAIN, 10)
    assert same(found, fit_to_labels(log_odds(SCORES), CHAIN.labels))
    assert (found.base_rate, found.interval, found.believed, found.expected_open) == (None,) * 4


# What is believed where little is known


def test_where_nothing_is_labelled_the_prior_is_believed() -> None:
    none, background = np.empty(0), np.random.default_rng(0).normal(-3, 1, 500)
    for mean in (-4.0, logit(0.1)):
        found = fit_to_map(Scored(none, none, background), 1, prior=(mean, 1.5), resamples=3)
        assert logit(found.base_rate or 0) == pytest.approx(mean, abs=0.02)
        assert found.slope == pytest.approx(1, abs=0.05)


def test_where_the_prior_decides_the_interval_is_as_wide_as_the_prior() -> None:
    none, background = np.empty(0), np.full(100, -3.0)
    low, high = fit_to_map(Scored(none, none, background), 1, resamples=40).interval or (0, 1)
    assert logit(low) == pytest.approx(PRIOR_MEAN - 2 * PRIOR_DEVIATION, abs=0.5)
    assert logit(high) == pytest.approx(PRIOR_MEAN + 2 * PRIOR_DEVIATION, abs=0.5)


def test_the_prior_decides_when_there_is_little_and_not_when_there_is_much() -> None:
    def rates(of_each: int) -> list[float]:
        scored, _ = made_up(0, of_each=of_each, background=5_000)
        priors = ((logit(0.01), PRIOR_DEVIATION), (logit(0.1), PRIOR_DEVIATION))
        fits = [fit_to_map(scored, 1, prior=prior, resamples=0) for prior in priors]
        return [found.base_rate or 0 for found in fits]

    few, many = rates(3), rates(4_000)
    assert few[1] / few[0] > 3
    assert many[1] / many[0] < 1.2


@pytest.mark.parametrize("seed", range(3))
def test_the_slope_is_positive_also_for_useless_scores(seed: int) -> None:
    rng = np.random.default_rng(seed)
    backward = Scored(rng.normal(-1, 1, 200), rng.normal(1, 1, 200), rng.normal(0, 1, 2_000))
    found = fit_to_map(backward, 1, resamples=0)
    assert 0 < found.slope < 0.2
    assert fit_to_labels(np.array([2.0, -2.0] * 20), np.array([0, 1] * 20)) == Calibration()


def test_labels_that_are_told_apart_without_fault_do_not_make_it_sure_of_everything() -> None:
    apart = Scored(np.full(50, 3.0), np.full(50, -3.0), np.linspace(-5, 5, 1_000))
    assert 1.5 < fit_to_map(apart, 1, resamples=0).slope < 3
    found = fit_to_labels(np.repeat([3.0, -3.0], 50), np.repeat([1, 0], 50))
    # The pull of a tenth of the slope is as strong as what the labels still ask for.
    assert found.slope / 10 == pytest.approx(50 * 2 * 3 * expit(-3 * found.slope), rel=1e-3)
    assert found.intercept == pytest.approx(0, abs=1e-6)


scores = st.lists(st.floats(0, 1), max_size=12).map(np.array)


@settings(max_examples=20)
@given(scores, scores, st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array))
def test_any_scores_give_numbers(
    positive: FloatArray, negative: FloatArray, background: FloatArray
) -> None:
    """A model may be wrong about everything, or say 0 and 1 of all."""
    scored = Scored(log_odds(positive), log_odds(negative), log_odds(background))
    found = fit_to_map(scored, 10, resamples=1)
    assert np.isfinite([found.slope, found.intercept, found.base_rate, found.believed]).all()
    assert np.isfinite(found.interval or np.nan).all()
    assert found.slope > 0
    assert 0 < (found.base_rate or 0) < 1
    p = found.probability(np.array([0.0, 0.5, 1.0]))
    assert ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p) >= 0).all()


def test_scores_say_no_more_than_the_surest() -> None:
    assert log_odds(np.array([0.0, 0.5, 1.0])).tolist() == [-SUREST, 0, SUREST]


# From which probability on a pair is believed


def test_believed_is_what_has_the_best_expected_f1() -> None:
    # Of 0.9, 0.8, 0.1, 0.1 (1.9 are expected): one believed 1.8 / 2.9, two 3.4 / 3.9,
    # three 3.6 / 4.9, all 3.8 / 5.9.
    assert best_expected_f1(np.array([0.1, 0.9, 0.1, 0.8])) == 0.8
    # Where all are alike, all are believed: 2 · 0.3 k / (k + 0.9) grows with k.
    assert best_expected_f1(np.full(3, 0.3)) == 0.3


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=20))
def test_no_other_threshold_is_expected_to_do_better(p: list[float]) -> None:
    def expected_f1(threshold: float) -> float:
        believed = [one for one in p if one >= threshold]
        return 2 * sum(believed) / (len(believed) + sum(p))

    found = best_expected_f1(np.array(p))
    assert expected_f1(found) >= max(map(expected_f1, p)) - 1e-12


def test_the_believed_threshold_is_chosen_on_background() -> None:
    scored, _ = made_up(0, of_each=500, background=2_000)
    found = fit_to_map(scored, 1, resamples=0)
    p = expit(found.slope * scored.background + found.intercept)
    assert found.believed == best_expected_f1(p)


# What labels that people chose say of it


def test_probabilities_of_the_map_are_converted_to_the_rate_of_labels() -> None:
    # In the map one pair in 50 is a prerequisite, odds 1/49; among labels half are, odds 1.
    # Said 0.2, odds 1/4: times 49 they are 49/4, a probability of 49/53.
    # Said 0.02, as is usual there: 1/2. Said 0.01, odds 1/99: times 49 they are 49/99, so 49/148.
    said = at_rate(np.array([0.2, 0.02, 0.01, 0.0, 1.0]), 0.02, 0.5)
    np.testing.assert_allclose(said, [49 / 53, 1 / 2, 49 / 148, 0, 1])
    # Three labels in four say yes, odds 3.
    assert at_rate(np.array([0.2]), 0.02, 0.75)[0] == pytest.approx(3 * 49 / (3 * 49 + 4))


rates = st.floats(0.001, 0.999)


@given(st.floats(0, 1), rates, rates)
def test_converting_there_and_back_changes_nothing(p: float, base_rate: float, rate: float) -> None:
    there = at_rate(np.array([p]), base_rate, rate)
    assert 0 <= there[0] <= 1
    np.testing.assert_allclose(at_rate(there, rate, base_rate), [p], atol=1e-9)
    np.testing.assert_allclose(at_rate(np.array([base_rate]), base_rate, rate), [rate])
