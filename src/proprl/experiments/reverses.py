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
from proprl.experiments.runs import Run
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
HEADS = (
    *("set", "known reverses", "validation AUC"),
    *(f"test {NAMES[metric]}" for metric in METRICS),
    *("seeds", ""),
)


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
        return _chosen(self.validation, course)

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
                seeds = len(of_course(self.test[which], course))
                verdict = "chosen" if which == self.chosen(course) else ""
                named = words + (" (the default)" if which == DEFAULT else "")
                auc = mean_metric(self.validation[which], course, "auc")
                rows.append([course, named, auc, *metrics, seeds, verdict])
        return Table("What known reverses are worth, published", HEADS, rows)

    def texts(self) -> dict[str, str]:
        """Give the table as files."""
        rows = self.table().rows
        switch = ", ".join(f"`{which}`" for which in WORDS)
        reader = method_settings(OURS, "default").read_by
        how = (
            "Sequitur on the published rows, by which known labels of the reverse order are "
            f"evidence (`--set reverse_labels=` {switch}). The validation rows of each set choose, "
            "with one seed. On the test rows there are means over seeds; what is neither chosen "
            "nor the default has no line to reach and is run on the first few of them. The default "
            "is for pairs that are not drawn like the labelled ones: see docs/sequitur.md."
        )
        if reader != NOBODY:
            how += f" `{reader}` read about the concepts, but not where every known reverse counts."
        return {
            "ours-reverses.md": f"# What known reverses are worth\n\n{how}\n\n"
            + markdown_table(HEADS, map(four_digits, rows)),
            "ours-reverses.csv": csv_text(HEADS, rows),
        }


def reverse_study(wanted: Wanted, do: Do, *, repeats: int, others: int) -> ReverseStudy:
    """Run every position of the switch on the validation rows, and then on the test rows.

    There, what is chosen and the default, which have lines to reach, are run `repeats` times, what
    is left `others` times.
    """

    def runs(which: Which, courses: Sequence[str], repeats: int) -> list[Run]:
        here = replace(wanted, asked_courses=courses)
        return variant_runs(here, PROTOCOL, _change(which), repeats=repeats)

    once = {
        which: [replace(run, part="validation") for run in runs(which, wanted.courses, 1)]
        for which in WORDS
    }
    validation = _results(once, do)
    often: dict[Which, list[Run]] = {which: [] for which in WORDS}
    for course in wanted.courses:
        with_lines = (DEFAULT, _chosen(validation, course))
        for which in WORDS:
            often[which] += runs(which, [course], repeats if which in with_lines else others)
    return ReverseStudy(wanted.courses, validation, _results(often, do))


def _results(runs: Mapping[Which, Sequence[Run]], do: Do) -> dict[Which, Results]:
    """Give the results at each position; all runs are done together."""
    asked = [(which, run) for which, some in runs.items() for run in some]
    found: dict[Which, Results] = {which: [] for which in runs}
    for (which, _), result in zip(asked, do([run for _, run in asked]), strict=True):
        found[which].append(result)
    return found


def _chosen(validation: Mapping[Which, Results], course: str) -> Which:
    labels = np.array(of_course(validation[DEFAULT], course)[0]["labels"])
    if not enough_to_choose(labels):
        return DEFAULT
    auc = {which: mean_metric(validation[which], course, "auc") for which in WORDS}
    return max(WORDS, key=lambda which: (auc[which], which == DEFAULT))


def _change(which: Which) -> dict[str, Any]:
    """Give the change that sets the switch; none for the default, whose runs others share."""
    return {} if which == DEFAULT else {"reverse_labels": which}
