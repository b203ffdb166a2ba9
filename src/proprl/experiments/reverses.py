"""What a known label of the reverse order is worth, and which of them count: validation chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proprl.experiments.experiment import Do, Table, Wanted
from proprl.experiments.parts import variant_runs
from proprl.experiments.published import METRICS, NAMES
from proprl.experiments.runner import metric_values
from proprl.experiments.texts import csv_text, markdown_table
from proprl.models.judge import SequiturSettings
from proprl.models.reverse_labels import Which

Results = list[dict[str, Any]]

PROTOCOL = "published"
"""Under the others no label of a reverse is ever known: there is nothing to choose."""
WORDS: dict[Which, str] = {
    "none": "no known reverse counts",
    "positive": "only reverses known to hold count",
    "both": "every known reverse counts",
}
DEFAULT: Which = SequiturSettings.model_fields["reverse_labels"].default
HEADS = ("set", "known reverses", "validation AUC", *(NAMES[metric] for metric in METRICS), "")


@dataclass(frozen=True)
class ReverseStudy:
    """Sequitur with each position of its switch `reverse_labels` on the published rows."""

    courses: Sequence[str]
    validation: Mapping[Which, Results]
    test: Mapping[Which, Results]

    @property
    def results(self) -> Results:
        """Every result."""
        return [one for part in (self.validation, self.test) for of in part.values() for one in of]

    def chosen(self, course: str) -> Which:
        """Give what does best on the validation rows; of equals the default, then the first."""
        return max(self.validation, key=lambda which: (self._auc(which, course), which == DEFAULT))

    def of_chosen(self) -> Results:
        """Give the results on test rows at the position that each set's validation rows chose."""
        chosen = {course: self.chosen(course) for course in self.courses}
        return [one for course in chosen for one in _of(self.test[chosen[course]], course)]

    def of_default(self) -> Results:
        """Give those at the default position, of the sets that chose another."""
        others = [course for course in self.courses if self.chosen(course) != DEFAULT]
        return [one for course in others for one in _of(self.test[DEFAULT], course)]

    def table(self) -> Table:
        """Give what each position is worth."""
        rows: list[list[object]] = []
        for course in self.courses:
            for which, results in self.test.items():
                metrics = [_mean(_of(results, course), metric) for metric in METRICS]
                verdict = "chosen" if which == self.chosen(course) else ""
                words = WORDS[which] + (" (the default)" if which == DEFAULT else "")
                rows.append([course, words, self._auc(which, course), *metrics, verdict])
        return Table("What known reverses are worth, published", HEADS, rows)

    def texts(self) -> dict[str, str]:
        """Give the table as files."""
        rows = self.table().rows
        seeds = len(_of(self.test[DEFAULT], self.courses[0]))
        how = (
            "Sequitur on the published rows, by which known labels of the reverse order are "
            f"evidence (`--set reverse_labels=` {', '.join(f'`{which}`' for which in self.test)}). "
            "What counts is chosen on the validation rows of each set, with one seed; the last "
            f"columns are means over {seeds} seeds on the test rows. The default is for pairs that "
            "are not drawn like the labelled ones: see docs/sequitur.md."
        )
        shown = [[f"{c:.4f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
        return {
            "ours-reverses.md": f"# What known reverses are worth\n\n{how}\n\n"
            + markdown_table(HEADS, shown),
            "ours-reverses.csv": csv_text(HEADS, rows),
        }

    def _auc(self, which: Which, course: str) -> float:
        return _mean(_of(self.validation[which], course), "auc")


def reverse_study(wanted: Wanted, do: Do, *, repeats: int) -> ReverseStudy:
    """Run every position of the switch: once on validation rows, `repeats` times on test rows."""
    test = {which: variant_runs(wanted, PROTOCOL, _set(which), repeats=repeats) for which in WORDS}
    validation = {
        which: [replace(run, part="validation") for run in runs if run.seed == 0]
        for which, runs in test.items()
    }
    return ReverseStudy(
        wanted.courses,
        {which: do(runs) for which, runs in validation.items()},
        {which: do(runs) for which, runs in test.items()},
    )


def _set(which: Which) -> dict[str, Any]:
    """Give the change that sets the switch; none for the default, whose runs others share."""
    return {} if which == DEFAULT else {"reverse_labels": which}


def _of(results: Results, course: str) -> Results:
    return [one for one in results if one["run"]["course"] == course]


def _mean(results: Results, metric: str) -> float:
    return float(np.mean(metric_values(results, metric)))
