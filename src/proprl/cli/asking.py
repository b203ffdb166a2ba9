"""Questions at the terminal: one answer a line, kept before the next question is asked."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from proprl.cli.console import escape, say
from proprl.data.answers import NO, REVERSED, WITHDRAWN, YES
from proprl.data.folder.answers_file import Answer, AnswersFile
from proprl.data.splits.labelled import DRAWN
from proprl.graphs.closure import BoolArray, connect, what_follows

if TYPE_CHECKING:
    from proprl.arrays import IntArray
    from proprl.curriculum.questions import Question
    from proprl.data import Course

KEYS = {"y": YES, "n": NO, "r": REVERSED}
LEARNS = "Ask again: the model learns from them first."
DOES_NOT_LEARN = (
    "A trained model does not change: put them into the course folder as answers.csv, and train "
    "again."
)
HELP = (
    "[bold]y[/] yes   [bold]n[/] no   [bold]r[/] turned round: the other way   "
    "[bold]s[/] skip   [bold]u[/] undo   [bold]q[/] quit"
)


class Asking:
    """Asks questions until all are answered or the person stops."""

    def __init__(
        self,
        questions: list[Question],
        course: Course,
        file: AnswersFile,
        who: str,
        confirmed: IntArray,  # (k, 2)
        then: str = LEARNS,
    ) -> None:
        self.left = deque(questions)
        self.course, self.file, self.who, self.confirmed = course, file, who, confirmed
        self.count, self.then = len(questions), then
        self.given: list[tuple[Question, str]] = []
        self._row = {concept: k for k, concept in enumerate(course.ids)}

    def run(self) -> None:
        """Ask one question after the other."""
        if not self.left:
            say("There is nothing to ask: every pair has a label, or follows from one.")
            return
        say(HELP)
        skipped = 0  # in a row: whoever skips all that is left wants to stop
        while (question := self._next()) is not None and skipped < len(self.left):
            self._show(question)
            key = _key()
            if key == "q":
                break
            if key == "s":
                self.left.rotate(-1)
                skipped += 1
                continue
            skipped = 0
            if key == "u":
                self._undo()
                continue
            self._keep(question, KEYS[key])
            self.left.popleft()
            self.given.append((question, KEYS[key]))

    def tell_kept(self) -> None:
        """Say what was kept, and what comes next."""
        if self.given:
            noun = "answer is" if len(self.given) == 1 else "answers are"
            where = f"[bold]{escape(str(self.file.path))}[/]"
            say(f"{len(self.given)} {noun} kept in {where}. {self.then}")

    def _next(self) -> Question | None:
        """Give the next question that answers have not settled; a drawn pair is always asked."""
        reach = self._settled()
        for _ in range(len(self.left)):
            question = self.left[0]
            i, j = self._row[question.source_id], self._row[question.target_id]
            if question.origin == DRAWN or not (reach[i, j] or reach[j, i]):
                return question
            self.left.rotate(-1)  # it comes back if what settled it is undone
        return None

    def _settled(self) -> BoolArray:
        """Give what follows from confirmed labels and from the answers so far."""
        reach = what_follows(len(self.course), self.confirmed)
        np.fill_diagonal(reach, val=True)
        for question, answer in self.given:
            i, j = self._row[question.source_id], self._row[question.target_id]
            if answer != NO:
                connect(reach, *((i, j) if answer == YES else (j, i)))
        return reach

    def _show(self, question: Question) -> None:
        number = f"[dim]{len(self.given) + 1} of {self.count}[/]"
        first, then = escape(question.source), escape(question.target)
        say(f"\n{number}  Is [bold]{first}[/] needed before [bold]{then}[/]?")
        for concept, name in ((question.source_id, first), (question.target_id, then)):
            described = self.course.concepts["description"][self._row[concept]]
            if described.strip():
                say(f"  [dim]{name}: {escape(described)}[/]")
        say(f"  [dim]Asked because {escape(question.why)}.[/]")

    def _undo(self) -> None:
        if not self.given:
            say("There is nothing to undo.")
            return
        question, _ = self.given.pop()
        self._keep(question, WITHDRAWN)
        self.left.appendleft(question)

    def _keep(self, question: Question, answer: str) -> None:
        pair = question.source_id, question.target_id
        self.file.add(Answer(*pair, answer, self.who, question.origin, question.chance))


def _key() -> str:
    """Read what a person types: the first letter of a key, or q where there is nothing more."""
    while True:
        sys.stdout.write("  y n r s u q > ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            say("")
            return "q"
        key = line.strip().lower()[:1]
        if key in ("y", "n", "r", "s", "u", "q"):
            return key
        say(HELP)
