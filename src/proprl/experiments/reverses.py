"""What a known label of the reverse order is worth, and which of them count: validation chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proprl.evaluation.metrics import enough_to_choose
from proprl.experiments.experiment import Do, Table, Wanted
from proprl.experiments.parts import OURS, variant_runs
from proprl.experiments.published import METRICS, NAMES
from proprl.experiments.runner import mean_metric, of_course
from proprl.experiments.texts import csv_text, four_digits, markdown_table
from proprl.features.readings import NOBODY
from proprl.models.judge import SequiturSettings
from proprl.models.registry import method_settings
from proprl.models.reverse_labels import Which

Results = list[dict[str, Any]]

PROTOCOL = "published"
"""Under the others no pair that is asked about has a known reverse, and the default is used."""
DEFAULT: Which = SequiturSettings.model_fields["reverse_labels"].default
WORDS: dict[Which, str] = {
    "none": "no known reverse counts",
    "positive": "only reverses known to hold count",
    "both": "every known reverse counts",
}
HEADS = ("set", "known reverses", "validation AUC", *(f"test {NAMES[m]}" for m in METRICS), "")


@dataclass(frozen=True)
class ReverseStudy:
    """Sequitur with each position of its switch `reverse_labels` on the published rows."""

    courses: Sequence[str]
    validation: Mapping[Which, Results]
    test: Mapping[Which, Results]

    def chosen(self, course: str) -> Which:
        """Give what does best on the validation rows; the default if it is as good as any.

        The default, too, where there are too few rows to choose by.
        """
        labels = np.array(of_course(self.validation[DEFAULT], course)[0]["labels"])
        if not enough_to_choose(labels):
            return DEFAULT
        return max(WORDS, key=lambda which: (self._auc(which, course), which == DEFAULT))

    @property
    def results(self) -> Results:
        """Every result but those that a comparison of methods has anyway."""
        others = [self.test[which] for which in WORDS if which != DEFAULT]
        return [one for found in (*self.validation.values(), *others) for one in found]

    @property
    def departed(self) -> list[str]:
        """The courses that chose another position than the default."""
        return [course for course in self.courses if self.chosen(course) != DEFAULT]

    def table(self) -> Table:
        """Give what each position is worth."""
        rows: list[list[object]] = []
        for course in self.courses:
            for which, words in WORDS.items():
                metrics = [mean_metric(self.test[which], course, metric) for metric in METRICS]
                verdict = "chosen" if which == self.chosen(course) else ""
                named = words + (" (the default)" if which == DEFAULT else "")
                rows.append([course, named, self._auc(which, course), *metrics, verdict])
        return Table("What known reverses are worth, published", HEADS, rows)

    def texts(self) -> dict[str, str]:
        """Give the table as files."""
        rows = self.table().rows
        seeds = len(of_course(self.test[DEFAULT], self.courses[0]))
        switch = ", ".join(f"`{which}`" for which in WORDS)
        reader = method_settings(OURS, "default").read_by
        how = (
            "Sequitur on the published rows, by which known labels of the reverse order are "
            f"evidence (`--set reverse_labels=` {switch}). The validation rows of each set choose, "
            "with one seed; on the test rows there are means over "
            f"{seeds} seed{'' if seeds == 1 else 's'}. The default is for pairs that are not drawn "
            "like the labelled ones: see docs/sequitur.md."
        )
        if reader != NOBODY:
            how += f" `{reader}` read about the concepts, but not where every known reverse counts."
        return {
            "ours-reverses.md": f"# What known reverses are worth\n\n{how}\n\n"
            + markdown_table(HEADS, map(four_digits, rows)),
            "ours-reverses.csv": csv_text(HEADS, rows),
        }

    def _auc(self, which: Which, course: str) -> float:
        return mean_metric(self.validation[which], course, "auc")


def reverse_study(wanted: Wanted, do: Do, *, repeats: int) -> ReverseStudy:
    """Run every position of the switch: once on validation rows, `repeats` times on test rows."""
    runs = {
        which: variant_runs(wanted, PROTOCOL, _change(which), repeats=repeats) for which in WORDS
    }
    asked = [
        (which, run)
        for which, on_test in runs.items()
        for run in (*(replace(r, part="validation") for r in on_test if r.seed == 0), *on_test)
    ]
    results = do([run for _, run in asked])
    found: dict[str, dict[Which, Results]] = {
        part: {which: [] for which in WORDS} for part in ("validation", "test")
    }
    for (which, run), result in zip(asked, results, strict=True):
        found[run.part][which].append(result)
    return ReverseStudy(wanted.courses, found["validation"], found["test"])


def _change(which: Which) -> dict[str, Any]:
    """Give the change that sets the switch; none for the default, whose runs others share."""
    return {} if which == DEFAULT else {"reverse_labels": which}
