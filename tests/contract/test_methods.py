"""One suite for every registered method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from proprl.arrays import FloatArray, IntArray
from proprl.data import Course
from proprl.data.splits.parts import PairSplit, grouped_split
from proprl.errors import MissingInputError, ProprlError, TrainingError, UnknownMethodError
from proprl.evaluation.metrics import auc, ordered_share
from proprl.features.gather import gather_evidence
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport, PairScorer
from proprl.models.needs import FEATURES, LABELS, REMEDIES, check_inputs, missing_inputs
from proprl.models.registry import METHODS, method, method_settings

# Settings under which a method learns the planted course within a tenth of a second or two.
QUICK: dict[str, dict[str, Any]] = {
    "sequitur": {"trees": 20},
    "trees": {"trees": 25},
    "proprl": {"size": 32, "epochs": 8, "batch_size": 64, "learning_rate": 3e-3},
    "proprl-without-gate": {"size": 64, "epochs": 12, "batch_size": 32},
    "proprl-without-propagation": {"size": 64, "epochs": 12, "batch_size": 32},
    "proprl-without-irreversibility": {"size": 64, "epochs": 12, "batch_size": 32},
    "dgcpl": {"size": 16, "epochs": 8, "batch_size": 64, "learning_rate": 5e-3},
    "conlearn": {"size": 64, "epochs": 6, "batch_size": 32, "learning_rate": 3e-3},
    "gkrom": {"hidden": 32, "size": 64, "epochs": 8, "batch_size": 64, "learning_rate": 4e-3},
    "nb": {},
    "svm": {},
    "rf": {"trees": 25},
    "refd": {},
    "gae": {"epochs": 100},
    "vgae": {"epochs": 50},
    "rvgae": {"epochs": 60},
    "mhavgae": {"epochs": 50},
    "prereq": {"size": 64, "epochs": 15},  # with only 20 topics the seed would decide
    "lcpre": {"size": 32, "paths": 4, "epochs": 5, "batch_size": 64, "learning_rate": 1e-2},
    "hgapnet": {"size": 32, "epochs": 6, "batch_size": 64, "learning_rate": 3e-3},
}

# Where two fits must be alike, or differ, they need not have learned anything.
LONG = {"epochs", "trees"}
BRIEF = {
    name: {key: min(value, 3) if key in LONG else value for key, value in settings.items()}
    for name, settings in QUICK.items()
}


@dataclass(frozen=True)
class Expectation:
    """What a method must show on the planted course."""

    auc: float
    """On the test pairs, at least."""
    ordered: float
    """The share of test positives that must score above their own reverses."""
    seeded: bool = True
    """Another seed gives other scores."""
    views: tuple[str, ...] = ("resource", "behaviour")
    """The views that the method can use."""


MUST_REACH = {
    "sequitur": Expectation(auc=0.95, ordered=0.9),
    "trees": Expectation(auc=0.9, ordered=0.9),
    "proprl": Expectation(auc=0.85, ordered=0.9),
    "proprl-without-gate": Expectation(auc=0.85, ordered=0.9),
    "proprl-without-propagation": Expectation(auc=0.85, ordered=0.9),
    "proprl-without-irreversibility": Expectation(auc=0.85, ordered=0.9),
    "dgcpl": Expectation(auc=0.85, ordered=0.9),
    "conlearn": Expectation(auc=0.85, ordered=0.85, views=()),
    "gkrom": Expectation(auc=0.9, ordered=0.9, views=("resource",)),
    "nb": Expectation(auc=0.9, ordered=0.9, seeded=False, views=()),
    "svm": Expectation(auc=0.85, ordered=0.85, views=()),
    "rf": Expectation(auc=0.9, ordered=0.85, views=()),
    # The planted resources hold neighbouring levels, which says nothing of their order.
    "refd": Expectation(auc=0.8, ordered=0.7, seeded=False),
    # Messages along both directions of a known pair blur the level that tells the order.
    "gae": Expectation(auc=0.8, ordered=0.6, views=()),
    "vgae": Expectation(auc=0.75, ordered=0.55, views=()),
    "rvgae": Expectation(auc=0.8, ordered=0.8, views=("resource",)),
    # Attention blurs it once more: over seeds 0 to 4 from 0.45 to 0.7 came out in order.
    "mhavgae": Expectation(auc=0.65, ordered=0.4, views=("resource",)),
    "prereq": Expectation(auc=0.85, ordered=0.8, views=("resource",)),
    "lcpre": Expectation(auc=0.85, ordered=0.85, views=("resource",)),
    "hgapnet": Expectation(auc=0.85, ordered=0.9, views=("resource",)),
}

# Every method must reach these AUCs on the test pairs: with background, and where a course has
# texts and labels alone.
WITH_BACKGROUND, FROM_TEXTS = 0.7, 0.75

# Settings of a method's release under which both orders of a pair score alike by construction.
SYMMETRIC: dict[str, dict[str, Any]] = {
    "prereq": {"comparison": "absolute"},
    "gae": {"decoder": "inner"},
    "vgae": {"decoder": "inner"},
    "rvgae": {"decoder": "inner"},
    "mhavgae": {"decoder": "inner"},
}

# An ablation is ProPRL with a part switched off: its own run of the suite can wait for CI.
CHECKED = [
    pytest.param(name, marks=pytest.mark.slow) if "-without-" in name else name for name in METHODS
]

REFUSING = [name for name in METHODS if not METHODS[name].takes_background]


@pytest.fixture(scope="module", params=CHECKED)
def name(request: pytest.FixtureRequest) -> str:
    """Each method in turn: all tests of one share its fits."""
    return str(request.param)


@pytest.fixture(scope="module")
def evidence(planted: Course) -> Evidence:
    return gather_evidence(planted)[0]


@pytest.fixture(scope="module")
def split(planted: Course) -> PairSplit:
    return grouped_split(planted.labelled_pairs(), fractions=(0.6, 0.2, 0.2), seed=0)


def quick(name: str) -> PairScorer:
    return method(name)(method_settings(name, **QUICK[name]), device="cpu")


def fit(
    name: str, evidence: Evidence, split: PairSplit, seed: int = 0, **more: Any
) -> tuple[PairScorer, FitReport]:
    scorer = quick(name)
    return scorer, scorer.fit(evidence, split, seed=seed, **more)


def fit_briefly(
    name: str, evidence: Evidence, split: PairSplit, seed: int = 0, **more: Any
) -> PairScorer:
    scorer = method(name)(method_settings(name, **BRIEF[name]), device="cpu")
    scorer.fit(evidence, split, seed=seed, **more)
    return scorer


def takes_background(name: str) -> bool:
    return METHODS[name].takes_background


@pytest.fixture(scope="module")
def trained(name: str, evidence: Evidence, split: PairSplit) -> tuple[str, PairScorer, FitReport]:
    return name, *fit(name, evidence, split)


@pytest.fixture(scope="module")
def brief(name: str, evidence: Evidence, split: PairSplit) -> PairScorer:
    return fit_briefly(name, evidence, split)


@pytest.fixture(scope="module")
def unlabelled(planted: Course) -> IntArray:
    """The ordered pairs that have no label in either order, shuffled; one in seventeen is true."""
    labelled = planted.labelled_pairs().pairs
    has_label = np.eye(len(planted), dtype=bool)
    has_label[tuple(labelled.T)] = has_label[tuple(labelled.T[::-1])] = True
    return np.random.default_rng(0).permutation(np.argwhere(~has_label))


@pytest.fixture(scope="module")
def background(unlabelled: IntArray) -> IntArray:
    """As many pairs without a label as there are training positives."""
    return unlabelled[:120]


@pytest.fixture(scope="module")
def informed(
    name: str, evidence: Evidence, split: PairSplit, background: IntArray
) -> tuple[str, PairScorer, FitReport]:
    """A fit with background, or as it is for a method that takes none."""
    given = background if takes_background(name) else None
    return name, *fit(name, evidence, split, background=given)


def auc_on_test(scorer: PairScorer, split: PairSplit) -> float:
    return auc(split.test.labels, scorer.score(split.test.pairs))


def same_bytes(one: Mapping[str, FloatArray], other: Mapping[str, FloatArray]) -> bool:
    one, other = ({k: np.asarray(v).tobytes() for k, v in s.items()} for s in (one, other))
    return one == other


def every_pair(n: int) -> IntArray:
    return np.array([(i, j) for i in range(n) for j in range(n) if i != j])


def test_scores_are_probabilities(
    trained: tuple[str, PairScorer, FitReport], informed: tuple[str, PairScorer, FitReport]
) -> None:
    for _, scorer, _ in (trained, informed):
        scores = scorer.score(every_pair(60))
        assert scores.shape == (60 * 59,)
        assert np.isfinite(scores).all()
        assert scores.min() >= 0
        assert scores.max() <= 1


def test_no_pairs_give_no_scores(trained: tuple[str, PairScorer, FitReport]) -> None:
    assert trained[1].score(np.empty((0, 2), dtype=np.int64)).shape == (0,)


def test_a_pairs_score_does_not_depend_on_its_company(
    trained: tuple[str, PairScorer, FitReport],
) -> None:
    together = trained[1].score(every_pair(60))
    alone = np.concatenate([trained[1].score(pair[None]) for pair in every_pair(60)[:20]])
    np.testing.assert_allclose(together[:20], alone, atol=1e-6)


def test_the_planted_answer_is_found(
    trained: tuple[str, PairScorer, FitReport], split: PairSplit
) -> None:
    name, scorer, _ = trained
    expected = MUST_REACH[name]
    forward = scorer.score(split.test.positives)
    reverse = scorer.score(split.test.positives[:, ::-1].copy())
    assert auc_on_test(scorer, split) >= expected.auc
    assert ordered_share(forward, reverse) >= expected.ordered


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_symmetric_variant_fails_the_direction_half(
    name: str, evidence: Evidence, split: PairSplit
) -> None:
    settings = method_settings(name, **QUICK[name], **SYMMETRIC[name])
    scorer = method(name)(settings, device="cpu")
    scorer.fit(evidence, split, seed=0)
    positives = split.test.positives
    forward, reverse = scorer.score(positives), scorer.score(positives[:, ::-1].copy())
    np.testing.assert_allclose(forward, reverse, atol=1e-6)
    labels = np.repeat([1, 0], len(positives))
    assert auc(labels, np.concatenate([forward, reverse])) == pytest.approx(0.5, abs=0.01)


def test_shuffled_labels_teach_nothing(
    name: str,
    trained: tuple[str, PairScorer, FitReport],
    evidence: Evidence,
    split: PairSplit,
) -> None:
    rng = np.random.default_rng(0)
    shuffled = PairSplit(
        type(split.train)(split.train.pairs, rng.permutation(split.train.labels)),
        type(split.validation)(split.validation.pairs, rng.permutation(split.validation.labels)),
        split.test,
        split.protocol,
        promises_reversed=True,
    )
    found = auc_on_test(fit(name, evidence, shuffled)[0], split)
    if LABELS in method(name).needs:
        assert 0.25 < found < 0.75
    else:  # what it knows without labels stays; they can only turn its order round
        known = auc_on_test(trained[1], split)
        assert found == pytest.approx(known) or found == pytest.approx(1 - known)


def test_the_seed_decides(
    name: str, brief: PairScorer, evidence: Evidence, split: PairSplit
) -> None:
    pairs = every_pair(20)
    other = fit_briefly(name, evidence, split, seed=5)
    alike = np.array_equal(brief.score(pairs), other.score(pairs))
    assert alike != MUST_REACH[name].seeded


def test_the_same_fit_gives_the_same_bytes_and_no_background_is_none(
    name: str, brief: PairScorer, evidence: Evidence, split: PairSplit
) -> None:
    again = fit_briefly(name, evidence, split, background=None)
    assert same_bytes(brief.state(), again.state())


def test_with_background_a_fit_repeats_and_changes_no_input(
    name: str, evidence: Evidence, split: PairSplit, background: IntArray
) -> None:
    def bytes_of() -> list[bytes]:
        arrays = [evidence.features, evidence.transitions.data, evidence.incidence.data, background]
        arrays += [p.pairs for p in (split.train, split.validation, split.test)]
        arrays += [p.labels for p in (split.train, split.validation, split.test)]
        return [array.tobytes() for array in arrays]

    before = bytes_of()
    given = background if takes_background(name) else None
    one, other = (fit_briefly(name, evidence, split, background=given) for _ in range(2))
    assert bytes_of() == before
    assert same_bytes(one.state(), other.state())


def test_background_lowers_the_scores_of_pairs_without_a_label(
    trained: tuple[str, PairScorer, FitReport],
    informed: tuple[str, PairScorer, FitReport],
    unlabelled: IntArray,
    background: IntArray,
    split: PairSplit,
) -> None:
    name, without, _ = trained
    _, scorer, _ = informed
    if not takes_background(name):
        return
    others = unlabelled[len(background) :]  # the fit has not seen them
    assert scorer.score(others).mean() < without.score(others).mean()
    assert auc_on_test(scorer, split) > WITH_BACKGROUND  # what labels say is not drowned


@pytest.mark.parametrize("refusing", REFUSING)
def test_a_method_that_takes_no_background_says_so(
    refusing: str, evidence: Evidence, split: PairSplit, background: IntArray
) -> None:
    expected = rf"^{refusing} takes no background, because .*: fit it with background=None$"
    with pytest.raises(TrainingError, match=expected):
        fit(refusing, evidence, split, background=background)


def test_the_test_part_is_never_looked_at(
    name: str, brief: PairScorer, evidence: Evidence, split: PairSplit
) -> None:
    """Wrong labels in the test part change nothing."""
    lie = type(split.test)(split.test.pairs, 1 - split.test.labels)
    spoiled = PairSplit(split.train, split.validation, lie, split.protocol, promises_reversed=True)
    pairs = every_pair(20)
    spoilt = fit_briefly(name, evidence, spoiled)
    np.testing.assert_array_equal(brief.score(pairs), spoilt.score(pairs))


def test_state_and_restore_give_the_same_scores(
    trained: tuple[str, PairScorer, FitReport], informed: tuple[str, PairScorer, FitReport]
) -> None:
    for name, scorer, report in (trained, informed):
        settings, state = method_settings(name, **QUICK[name]), scorer.state()
        features = state.get("evidence/features")  # of methods that score by them
        assert features is None or features.dtype == np.float32  # half as large, and no worse
        again = method(name).restore(settings, state, report, device="cpu")
        np.testing.assert_array_equal(again.score(every_pair(60)), scorer.score(every_pair(60)))


@pytest.mark.parametrize("views", [("resource",), ("behaviour",), ()])
def test_missing_views_are_switched_off_and_reported(
    name: str, views: tuple[str, ...], evidence: Evidence, split: PairSplit
) -> None:
    partial = Evidence(
        evidence.features,
        evidence.transitions if "behaviour" in views else None,
        evidence.incidence if "resource" in views else None,
    )
    scorer_class, present = method(name), {LABELS, FEATURES, *views}
    if missing_inputs(scorer_class.needs, present):
        with pytest.raises(MissingInputError, match=r"it needs\n  .*: add "):
            check_inputs(name, scorer_class.needs, present, "planted")
        return
    expected = MUST_REACH[name]
    if views:
        settings, scorer = method_settings(name, **BRIEF[name]), fit_briefly(name, partial, split)
    else:  # the least that one can know still teaches something
        settings, scorer = method_settings(name, **QUICK[name]), fit(name, partial, split)[0]
        assert auc_on_test(scorer, split) > FROM_TEXTS
    assert scorer.report.views == tuple(view for view in expected.views if view in views)
    assert set(scorer.report.missing_views) == set(expected.views) - set(views)
    again = method(name).restore(settings, scorer.state(), scorer.report, device="cpu")
    np.testing.assert_array_equal(again.score(every_pair(9)), scorer.score(every_pair(9)))


def test_what_a_method_needs_has_a_remedy(name: str) -> None:
    assert method(name).needs <= set(REMEDIES)


def test_forty_labels_are_enough_to_run(name: str, planted: Course, evidence: Evidence) -> None:
    few = planted.labelled_pairs().take(np.arange(40))
    report = fit_briefly(name, evidence, grouped_split(few, seed=0)).report
    assert report.threshold == 0.5  # four validation pairs are too few to choose one


def test_rare_positives_are_weighted(name: str, planted: Course, evidence: Evidence) -> None:
    labelled = planted.labelled_pairs()
    positives = np.flatnonzero(labelled.labels)[:8]
    negatives = np.flatnonzero(labelled.labels == 0)
    rare = labelled.take(np.concatenate([positives, negatives]))
    split = grouped_split(rare, seed=0)
    scorer, report = fit(name, evidence, split)
    negative, positive = report.class_weights
    assert positive > 5 > 1 > negative
    # Unweighted, a model may call everything negative; weighted, it must find training positives.
    assert scorer.score(split.train.positives).mean() > 0.5


def test_an_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(UnknownMethodError, match="known: proprl"):
        method("proprlx")


def test_an_unknown_setting_suggests_the_nearest() -> None:
    with pytest.raises(ProprlError, match="did you mean alpha"):
        method_settings("proprl", alhpa=0.1)
    with pytest.raises(ProprlError, match="alpha: Input should be less than or equal to 1"):
        method_settings("proprl", alpha=3)
    with pytest.raises(ProprlError, match="known: default, paper"):
        method_settings("proprl", "fast")
