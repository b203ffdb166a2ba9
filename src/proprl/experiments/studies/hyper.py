"""The hyper-parameter study: ProPRL with one setting changed at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

import polars as pl

from proprl.experiments.running.plan import PROPRL, Wanted, plan
from proprl.experiments.running.run import Result, Run
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.methods import title_of
from proprl.experiments.show.figures import PAGE, draw_curve, draw_legend, new_figure
from proprl.experiments.show.pages import Do, Outcome, file_stem, one_method, page, said, times_run
from proprl.experiments.show.tables import Table, csv_text, markdown_table
from proprl.models.registry import method_settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Each set has some twenty fits for a seed; under the preset `default` they take half a minute.
MOST_SEEDS = 3
SYMBOLS = {"alpha": "α", "k": "k", "lam": "λ", "learning_rate": "learning rate"}
SETTING_HEADS = ("setting", "value", "course", "F1", "AUC", "used")


@dataclass(frozen=True)
class Trial:
    """A run with one setting changed, or left as it is."""

    setting: str
    value: float
    used: bool
    """Whether it is the value that the other experiments use."""
    run: Run


def hyper(wanted: Wanted, do: Do) -> Outcome:
    """Change one setting of ProPRL at a time, on each set."""
    method = one_method("hyper", wanted, PROPRL)
    wanted = replace(wanted, repeats=min(wanted.repeats, MOST_SEEDS))
    base = [replace(run, preset="default") for run in plan([method], wanted)]
    tried = trials(base)
    results = do([trial.run for trial in tried])
    points = _points(tried, results)
    stem = file_stem("hyper", wanted)
    heading = f"Hyper-parameters, {wanted.protocol}: {title_of(method)}"
    times, encoder = times_run(wanted), base[0].encoder
    how = said("hyper", title=title_of(method), times=times, encoder=encoder)
    rows = [(setting, f"{value:g}", *rest) for setting, value, *rest in points.iter_rows()]
    texts = {
        f"{stem}.md": page(f"# {heading}", how, *_tables(points), f"![AUC by setting]({stem}.png)"),
        f"{stem}.csv": csv_text(
            [head.lower() for head in SETTING_HEADS], [(*row, int(used)) for *row, used in rows]
        ),
    }
    printed = [(*row, "*" if used else "") for *row, used in rows]
    table = Table(heading, SETTING_HEADS, printed)
    return Outcome(results, [table], texts, {stem: lambda: draw(points)})


def trials(base: Sequence[Run]) -> list[Trial]:
    """Give a trial for every value of the grid and for the value in use, setting by setting."""
    found = []
    for setting, values in packaged("methods.toml")["hyper"].items():
        for run in base:
            # A setting that the method lacks is refused here.
            method_settings(run.method, run.preset, **{**run.changes, setting: values[0]})
            used = getattr(method_settings(run.method, run.preset, **run.changes), setting)
            for value in sorted({*values, used}):
                # Unchanged where the value is in use: one run serves all settings.
                changes = run.changes if value == used else {**run.changes, setting: value}
                found.append(Trial(setting, value, value == used, replace(run, changes=changes)))
    return found


def _points(tried: Sequence[Trial], results: Sequence[Result]) -> pl.DataFrame:
    """Give the mean over seeds or folds for each setting, value and course."""
    rows = [
        (t.setting, float(t.value), t.run.course, *map(one["metrics"].get, ("f1", "auc")), t.used)
        for t, one in zip(tried, results, strict=True)
    ]
    frame = pl.DataFrame(rows, ["setting", "value", "course", "f1", "auc", "used"], orient="row")
    points = frame.group_by("setting", "value", "course", "used", maintain_order=True)
    means = points.agg(pl.col("f1", "auc").cast(pl.Float64).mean().fill_null(nan))
    return means.select(frame.columns)


def draw(points: pl.DataFrame) -> Figure:
    """Draw a panel for each setting, with one curve for each course."""
    settings = points.partition_by("setting", maintain_order=True)
    rows = -(-len(settings) // 2)
    figure = new_figure(PAGE, 0.3 + 1.8 * rows, columns=2, rows=rows)
    for axis, letter, of_setting in zip(figure.axes, "abcdefgh", settings, strict=False):
        _draw_panel(axis, of_setting)
        setting = of_setting["setting"][0]
        axis.set_title(f"({letter}) {SYMBOLS.get(setting, setting)}", loc="left")
    for axis in figure.axes[len(settings) :]:
        axis.remove()
    draw_legend(figure)
    return figure


def _draw_panel(axis: Axes, points: pl.DataFrame) -> None:
    values = sorted(set(points["value"]))
    courses = points.partition_by("course", maintain_order=True)
    for index, curve in enumerate(courses):
        places = [values.index(value) for value in curve["value"]]  # evenly spaced
        draw_curve(axis, index, curve["course"][0], zip(places, curve["auc"], strict=True))
        used = curve.filter("used")
        ring: dict[str, Any] = {"color": "black", "markerfacecolor": "none", "markeredgewidth": 0.8}
        label = "setting used" if index == len(courses) - 1 else None
        at = values.index(used["value"][0]), used["auc"][0]
        axis.plot(*at, "o", markersize=9, linestyle="none", label=label, **ring)
    axis.set_xticks(range(len(values)), [_shown(value) for value in values])
    axis.set(ylabel="AUC")


def _tables(points: pl.DataFrame) -> list[str]:
    """Give a table for each setting: F1 and AUC by course and value, the value in use in bold."""
    courses = points["course"].unique(maintain_order=True)
    found = []
    for of_setting in points.partition_by("setting", maintain_order=True):
        setting, values = of_setting["setting"][0], sorted(set(of_setting["value"]))
        cells = {
            (course, value): f"**{f1:.3f} / {auc:.3f}**" if used else f"{f1:.3f} / {auc:.3f}"
            for _, value, course, f1, auc, used in of_setting.iter_rows()
        }
        rows = [[c, *(cells.get((c, value), "-") for value in values)] for c in courses]
        heads = [SYMBOLS.get(setting, setting), *(f"{value:g}" for value in values)]
        found.append(markdown_table(heads, rows))
    return found


def _shown(value: float) -> str:
    """Give a number as an axis shows it: small ones as powers of ten."""
    if value == 0 or value >= 0.01:
        return f"{value:g}"
    digit, exponent = f"{value:.0e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if digit == "1" else f"${digit}\\!\\cdot\\!{power}$"
