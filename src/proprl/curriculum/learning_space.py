r"""What somebody may know, and how likely that is after some answers.

What somebody knows is a set K of concepts that holds all that its concepts need. Before the first
answer, a learner has come some part θ of the way, each of G parts alike:

.. math:: P(K) = \frac{1}{G} \sum_\theta \prod_{i \in K} p_i(\theta)
    \prod_{i \text{ ready}} (1 - p_i(\theta))

A concept is *ready* when it is not known, and all that it needs is. p_i(θ) is how many of those
who know all that i needs know i too, where concepts are learned in random orders that respect the
graph. The posterior is held as imagined learners. An answer weighs them; they are drawn again by
weight, and then stirred by Gibbs moves: each learns or forgets a concept where the graph lets it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, log_expit, logit

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray, closure_and_steps

SLIP = GUESS = 0.05
"""So often a concept that is known is denied, and one that is not known is claimed."""

# Chosen on planted graphs: `benchmarks/place.py planted` shows what others give.
LEARNERS, SWEEPS = 300, 1
ORDERS = 2_000
PARTS = np.linspace(0.05, 0.95, 19)


class LearningSpace:
    """What may be known at one time, and how likely each part of it is.

    `n` concepts, and `steps` (m, 2) without cycles: the first is needed before the second.
    """

    def __init__(self, n: int, steps: IntArray, *, seed: int = 0) -> None:
        self.n, self.seed = n, seed
        self.follows, needed = closure_and_steps(n, steps)
        pairs = steps[needed]
        self.steps = csr_array(
            (np.ones(len(pairs), dtype=np.int16), pairs.T.astype(np.int32)), shape=(n, n)
        )
        # What is just before and just after each concept, as columns (k, 1).
        self.before = [np.flatnonzero(row)[:, None] for row in self.steps.toarray().T]
        self.after = [np.flatnonzero(row)[:, None] for row in self.steps.toarray()]
        # Whoever needs more concepts stands later.
        self.order: IntArray = np.argsort(self.follows.sum(axis=0), kind="stable")
        self.learned = self._learned_when_ready()

    def _learned_when_ready(self) -> FloatArray:
        """Give p_i(θ), n × G, from random orders that respect the graph.

        Where every concept takes a time of its own, Exp(1), from when it is ready, the next one
        learned is each of those that are ready with equal chance.
        """
        rng = np.random.default_rng([self.seed, 0])
        done = rng.exponential(size=(self.n, ORDERS))
        for i in self.order:
            done[i] += done[self.before[i].ravel()].max(axis=0, initial=0)
        place = done.argsort(axis=0).argsort(axis=0)
        learned = np.empty((self.n, len(PARTS)))
        for k, part in enumerate(PARTS):
            known = place < part * self.n
            ready = self.missing(known) == 0
            learned[:, k] = (known.sum(axis=1) + 0.5) / (ready.sum(axis=1) + 1)
        return learned

    def missing(self, known: BoolArray) -> IntArray:
        """Give how many concepts just before each one are not known: n × learners."""
        missing: IntArray = self.steps.T @ (~known).astype(np.int16)
        return missing

    def leading_on(self, known: BoolArray) -> IntArray:
        """Give how many concepts just after each one are known: n × learners."""
        leading: IntArray = self.steps @ known.astype(np.int16)
        return leading

    @cached_property
    def log_odds(self) -> FloatArray:
        """Of knowing a concept for whom it is ready: n × G."""
        odds: FloatArray = logit(self.learned).astype(np.float32)
        return odds

    @cached_property
    def log_not(self) -> FloatArray:
        """The logarithm of not knowing it: n × G."""
        logs: FloatArray = log_expit(-self.log_odds)
        return logs


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of a learner after some answers; the same answers give the same belief."""

    space: LearningSpace
    known: BoolArray  # (n, learners): what each imagined learner knows
    part: IntArray  # (learners,): the place in PARTS of how far each has come
    slip: float
    guess: float
    answers: tuple[tuple[int, bool], ...] = ()

    @cached_property
    def chance(self) -> FloatArray:
        """How likely each concept is known: (n,). What a concept needs is as likely, or more."""
        return np.asarray(self.known.mean(axis=1))

    @property
    def judged_known(self) -> BoolArray:
        """What is taken as known (n,): it holds all that it needs."""
        return self.chance > 0.5

    @property
    def doubt(self) -> float:
        """The share of the judgements that is expected to be wrong."""
        return float(np.minimum(self.chance, 1 - self.chance).mean()) if self.space.n else 0.0

    def best_question(self) -> int | None:
        """Give the concept whose answer settles most; None where no answer settles anything.

        It is the one that takes most off the variances of all concepts' being known, summed.
        """
        gain = self._gain()
        gain[[concept for concept, _ in self.answers]] = 0
        return int(np.argmax(gain)) if gain.any() else None

    def _gain(self) -> FloatArray:
        open_ = np.flatnonzero((self.chance > 0) & (self.chance < 1))
        known = self.known[open_].astype(np.float32)
        known -= known.mean(axis=1, keepdims=True)
        covariance = known @ known.T / known.shape[1]
        told = 1 - self.slip - self.guess  # so much of what is known shows in an answer
        yes = self.guess + told * self.chance[open_]
        gain = np.zeros(self.space.n)
        gain[open_] = told**2 * (covariance**2).sum(axis=1) / (yes * (1 - yes))
        return gain

    def told(self, concept: int, knows: bool) -> Belief:
        """Give what is believed after one more answer, without a `contradiction`."""
        rng = np.random.default_rng([self.space.seed, 2, len(self.answers)])
        saying_so = (self.guess, 1 - self.slip) if knows else (1 - self.guess, self.slip)
        weight = np.where(self.known[concept], saying_so[1], saying_so[0])
        if weight.any():
            drawn = _drawn(weight, rng)
            known, part = self.known[:, drawn], self.part[drawn]
        else:  # none of the imagined ones could say so: they are made to
            known, part = self.known.copy(), self.part
            known[self.space.follows[:, concept] if knows else self.space.follows[concept]] = knows
            known[concept] = knows
        answers = (*self.answers, (concept, knows))
        belief = replace(self, known=known, part=part, answers=answers)
        for sweep in range(SWEEPS):
            belief = belief.stirred(rng, upwards=(sweep + len(answers)) % 2 == 0)
        return belief

    def contradiction(self, concept: int, knows: bool) -> tuple[int, int] | None:
        """Give what cannot be true if this is answered: the second known, the first not.

        With slips or guesses any answers may be given together.
        """
        if self.slip or self.guess:
            return None
        for other, said in self.answers:
            first, then = (other, concept) if knows else (concept, other)
            if said != knows and (first == then or self.space.follows[first, then]):
                return first, then
        return None

    def stirred(self, rng: np.random.Generator, *, upwards: bool) -> Belief:
        """Give other imagined learners, as likely as these: a sweep of Gibbs moves."""
        space, known, part = self.space, self.known.copy(), self._parts_drawn(rng)
        missing, leading = space.missing(known), space.leading_on(known)
        evidence = self._evidence()
        order = space.order[np.isfinite(evidence[space.order])]
        for i in order if upwards else order[::-1]:
            # Those who know all that it needs, and nothing that needs it, may know it or not.
            free = np.flatnonzero((missing[i] == 0) & (leading[i] == 0))
            if not len(free):
                continue
            at, was, after = part[free], known[i, free], space.after[i]
            odds = evidence[i] + space.log_odds[i, at]
            if len(after):
                # What is ready for whoever knows it could be known as well, and is not.
                opened = missing[after, free] == ~was
                odds += np.where(opened, space.log_not[after, at], 0).sum(axis=0)
            now = rng.logistic(size=len(free)) < odds
            change = now.astype(np.int16) - was
            known[i, free] = now
            if len(after):
                missing[after, free] -= change
            if len(space.before[i]):
                leading[space.before[i], free] += change
        return replace(self, known=known, part=part)

    def _parts_drawn(self, rng: np.random.Generator) -> IntArray:
        """Draw how far each imagined learner has come, given what it knows."""
        space = self.space
        ready = ~self.known & (space.missing(self.known) == 0)
        log_p = self.known.T.astype(np.float32) @ (space.log_odds + space.log_not)
        log_p += ready.T.astype(np.float32) @ space.log_not
        drawn: IntArray = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
        return drawn

    def _evidence(self) -> FloatArray:
        """Give the log-odds of each concept's being known, by the answer about itself."""
        with np.errstate(divide="ignore"):
            yes = np.log(1 - self.slip) - np.log(self.guess)
            no = np.log(self.slip) - np.log(1 - self.guess)
        evidence = np.zeros(self.space.n)
        for concept, knows in self.answers:
            evidence[concept] += yes if knows else no
        return evidence


def before_answers(
    space: LearningSpace,
    *,
    slip: float = SLIP,
    guess: float = GUESS,
    learners: int = LEARNERS,
) -> Belief:
    """Give what is believed of a learner of whom nothing is known.

    >>> chain = LearningSpace(3, np.array([[0, 1], [1, 2]]))
    >>> belief = before_answers(chain, slip=0, guess=0)
    >>> belief.best_question()
    1
    >>> belief.told(1, True).chance[:2]
    array([1., 1.])
    """
    for name, rate in (("slip", slip), ("guess", guess)):
        if not 0 <= rate < 0.5:
            raise ProprlError(f"a {name} happens in less than half of the answers, not in {rate}")
    rng = np.random.default_rng([space.seed, 1])
    part = np.arange(learners) * len(PARTS) // learners
    known = np.zeros((space.n, learners), dtype=np.bool_)
    for i in space.order:
        ready = known[space.before[i].ravel()].all(axis=0)
        known[i] = ready & (rng.random(learners) < expit(space.log_odds[i, part]))
    return Belief(space, known, part, slip, guess)


def _drawn(weight: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw as many places as there are, by weight, evenly (systematic resampling)."""
    edges = np.cumsum(weight) / weight.sum()
    marks = (np.arange(len(weight)) + rng.random()) / len(weight)
    return np.minimum(np.searchsorted(edges, marks), len(weight) - 1)
