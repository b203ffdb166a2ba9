"""A placement test: few answers, and the map says what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proprl.curriculum.graph import PrerequisiteGraph
from proprl.curriculum.learning_space import GUESS, SLIP, Belief, LearningSpace, before_answers
from proprl.curriculum.summary import names_apart
from proprl.curriculum.way import Known
from proprl.curriculum.ways import Ways
from proprl.data.lookup import find_concept
from proprl.data.tables.csv_json_parquet import open_table
from proprl.errors import ProprlError, UnknownConceptError
from proprl.graphs.closure import BoolArray

AT_MOST = 0.4
"""This share of the concepts is asked at most."""
DOUBT = 0.02
"""No more is asked once this share of the judgements is expected to be wrong, or less."""

UNSURE = 0.3
"""A judgement that is wrong with this chance is called unsure."""

YES, NO = ("y", "yes", "1", "true"), ("n", "no", "0", "false")


class Placement:
    """A placement test on a map: asks, takes answers back, and says what the learner knows.

    Concepts without any step in the map are left out: nothing says whether they are known. With
    `targets`, so are those that the targets do not need.
    """

    def __init__(
        self,
        graph: PrerequisiteGraph,
        targets: Sequence[str] = (),
        *,
        slip: float = SLIP,
        guess: float = GUESS,
        at_most: int | None = None,
    ) -> None:
        if at_most is not None and at_most < 1:
            raise ProprlError(f"at most {at_most} questions tell nothing: it must be 1 or more")
        self.ways = Ways(graph)
        n = len(graph.ids)
        joined = np.isin(np.arange(n), graph.pairs)
        wanted = list(self.ways.known(targets).rows) if targets else np.arange(n)
        counts = np.isin(np.arange(n), wanted)
        self.rows = np.flatnonzero(joined & counts)
        self.alone = np.flatnonzero(~joined & counts)
        if not len(self.rows):
            raise ProprlError(
                "nothing in the map is needed before anything else here, so no answer says "
                "anything about another concept: label prerequisites, or choose other targets"
            )
        inside = np.isin(graph.pairs, self.rows).all(axis=1)
        steps = np.searchsorted(self.rows, graph.pairs[inside])
        self.at_most = at_most or max(1, int(AT_MOST * len(self.rows)))
        space = LearningSpace(len(self.rows), steps)
        self._beliefs = [before_answers(space, slip=slip, guess=guess)]

    @property
    def belief(self) -> Belief:
        """What is believed after the answers so far; its concepts are the places in `rows`."""
        return self._beliefs[-1]

    @property
    def answers(self) -> list[tuple[int, bool]]:
        """The answers so far: rows of the map, and whether the learner says to know them."""
        return [(int(self.rows[i]), knows) for i, knows in self.belief.answers]

    def question(self) -> int | None:
        """Give the row to ask about next; None where that is not worth a question."""
        if len(self.answers) >= self.at_most or self.belief.doubt <= DOUBT:
            return None
        best = self.belief.best_question()
        return None if best is None else int(self.rows[best])

    def answer(self, row: int, knows: bool) -> None:
        """Take an answer; one that cannot be true with the others is refused."""
        names = names_apart(self.ways.graph.ids, self.ways.graph.names)
        if row not in self.rows:
            raise ProprlError(
                f"{names[row]} is no part of the test: it stands alone in the map, or the target "
                "does not need it; leave its answer out"
            )
        place = int(np.searchsorted(self.rows, row))
        if place in dict(self.belief.answers):
            raise ProprlError(f"{names[row]} has two answers: keep one of them")
        broken = self.belief.contradiction(place, knows)
        if broken is not None:
            first, then = (names[self.rows[i]] for i in broken)
            raise ProprlError(
                f"the answers contradict the map: {then} is known, and {first}, which it needs, "
                "is not. Correct them, or let answers be wrong now and then: --slip 0.05"
            )
        self._beliefs.append(self.belief.told(place, knows))

    def undo(self) -> bool:
        """Take the last answer back; whether there was one."""
        if len(self._beliefs) > 1:
            self._beliefs.pop()
            return True
        return False

    @property
    def state(self) -> BoolArray:
        """What the learner is taken to know (n,), with all that it needs."""
        state = np.zeros(self.ways.n, dtype=np.bool_)
        state[self.rows] = self.belief.judged_known
        return state

    @property
    def _known(self) -> Known:
        return Known(tuple(np.flatnonzero(self.state).tolist()), ())

    def ready_for(self) -> list[int]:
        """Give the rows of what the learner can learn now."""
        ready = [one.concept for one in self.ways.ready(self._known)]
        return [row for row in ready if row in self.rows]

    def learned_last(self) -> list[int]:
        """Give the rows of what is known and needed by nothing that is known."""
        return [int(row) for row in self.ways.learned_last(self._known)]

    def least_sure(self) -> list[int]:
        """Give the rows that are judged with a chance of `UNSURE` to be wrong, worst first."""
        chance = self.belief.chance
        wrong = np.minimum(chance, 1 - chance)
        order = np.argsort(-wrong, kind="stable")
        return [int(self.rows[k]) for k in order if wrong[k] >= UNSURE]

    def spoken_against(self) -> list[tuple[int, bool]]:
        """Give the answers that the others speak against: slips and guesses, most likely."""
        state = self.state
        return [(row, knows) for row, knows in self.answers if state[row] != knows]


def read_answers(path: Path, ids: Sequence[str], names: Sequence[str]) -> list[tuple[int, bool]]:
    """Return the answers in a file with the columns concept and answer, as rows of concepts.

    Everything that is wrong is in one `CourseError`, with the rows.
    """
    table, findings = open_table(path)
    for column in ("concept", "answer"):
        if column not in table.frame.columns:
            has = ", ".join(table.frame.columns)
            findings.report(table.file, f"must have the column {column}; it has: {has}")
    findings.raise_errors()
    given: dict[int, bool] = {}
    for number, concept, answer in zip(
        table.rows.tolist(), table.frame["concept"], table.frame["answer"], strict=True
    ):
        said = (answer or "").strip().casefold()
        if said not in YES + NO:
            expected = "is y or n"
            findings.report(table.file, expected, row=number, column="answer", value=answer)
        try:
            row = find_concept(concept or "", ids, names)
        except UnknownConceptError as error:
            findings.report(table.file, str(error), row=number, column="concept", value=concept)
            continue
        if row in given:
            expected = "has an answer above: keep one of them"
            findings.report(table.file, expected, row=number, column="concept", value=concept)
        given[row] = said in YES
    findings.raise_errors()
    return list(given.items())
