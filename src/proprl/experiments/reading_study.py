"""What a language model's readings are worth to Sequitur, where nothing leaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proprl.errors import ProprlError
from proprl.experiments.comparison import compare
from proprl.experiments.experiment import Do, Outcome, Table, Wanted
from proprl.experiments.ours import COLUMNS, DRAWS, HEADS, lines_table, own_lines
from proprl.experiments.parts import OURS, variant_runs
from proprl.experiments.runs import FOLDS
from proprl.experiments.tables import how_run, printed_table
from proprl.features.readings import NOBODY
from proprl.models.registry import method_settings

REPEATS = {"leak-free": FOLDS, "new-concepts": DRAWS}
WITHOUT, WITH = "Sequitur without readings", "Sequitur with readings"


def readings(wanted: Wanted, do: Do) -> Outcome:
    """Run Sequitur with and without the installed reader, on the same folds, draws and seeds."""
    if wanted.narrowed:
        raise ProprlError(
            "readings runs sequitur without leaks and on new concepts, as often as each needs: "
            "leave out --method, --protocol and --seeds, or take --quick"
        )
    reader = method_settings(OURS, "default").read_by
    if reader == NOBODY:
        raise ProprlError(
            "nobody is there to read about the concepts: install the extra `reader` "
            "(make install-reader), or name a reader in PROPRL_READER, such as "
            "language-model:FOLDER"
        )
    texts: dict[str, str] = {}
    tables, results = [], []
    page = [f"# What a language model's readings are worth\n\nRead by `{reader}`."]
    for protocol, most in REPEATS.items():
        here = replace(wanted, protocol=protocol, repeats=1 if wanted.repeats == 1 else most)
        found = []
        # With them is what Sequitur does by itself, so that runs of `ours` are not done again.
        for name, changes in ((WITHOUT, {"reader": NOBODY}), (WITH, {})):
            runs = variant_runs(here, protocol, changes, repeats=here.repeats)
            done = do(runs)
            found += [_named(result, name) for result in done]
        results += found
        comparison = compare(
            found,
            methods=(WITHOUT, WITH),
            courses=here.courses,
            metrics=tuple(dict.fromkeys([*COLUMNS[protocol], "ordered_share"])),
            ours=WITH,
        )
        tables += [printed_table(comparison, c, f"Readings, {protocol}: {c}") for c in here.courses]
        under = comparison.markdown().replace("## ", "### ")
        page.append(f"## {protocol}\n\n{how_run(here, runs[0].encoder)}\n\n{under}")
        reached = list(own_lines(protocol, done, here.courses))
        if reached:
            rows = [line.row()[1:] for line in reached]
            tables.append(Table(f"Lines with readings, {protocol}", HEADS[1:], rows))
            page.append(f"What Sequitur reaches with them:\n\n{lines_table(reached)}")
        texts[f"readings-{protocol}.csv"] = comparison.csv()
    texts["readings.md"] = "\n\n".join(page)
    return Outcome(results, tables, texts)


def _named(result: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {**result, "run": {**result["run"], "method": name}}
