"""The hyper-parameter study: ProPRL with one setting changed at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import PROPRL, experiment_settings, plan, title_of
from proprl.experiments.running.run import Run
from proprl.experiments.show.figures import PAGE, draw_curve, draw_legend, new_figure
from proprl.experiments.show.grouping import Result, mean_metric
from proprl.experiments.show.pages import file_stem, one_method, said, times_run
from proprl.experiments.show.tables import csv_text, markdown_table
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


@dataclass(frozen=True)
class Point:
    """What one value of one setting came to on one course."""

    setting: str
    value: float
    course: str
    used: bool
    f1: float
    auc: float


def hyper(wanted: Wanted, do: Do) -> Outcome:
    """Change one setting of ProPRL at a time, on each set."""
    method = one_method("hyper", wanted, PROPRL)
    wanted = replace(wanted, repeats=min(wanted.repeats, MOST_SEEDS))
    base = [replace(run, preset="default") for run in plan([method], wanted)]
    tried = trials(base)
    results = do([trial.run for trial in tried])
    points = gather(tried, results)
    stem = file_stem("hyper", wanted)
    title = title_of(method)
    heading = f"Hyper-parameters, {wanted.protocol}: {title}"
    how = said("hyper", title=title, times=times_run(wanted), encoder=base[0].encoder)
    picture = f"![AUC by setting]({stem}.png)\n"
    page = [f"# {heading}\n", how, *_tables(points), picture]
    rows = [(p.setting, f"{p.value:g}", p.course, p.f1, p.auc, int(p.used)) for p in points]
    texts = {
        f"{stem}.md": "\n".join(page),
        f"{stem}.csv": csv_text([head.lower() for head in SETTING_HEADS], rows),
    }
    printed = [(*row[:-1], "*" if row[-1] else "") for row in rows]
    table = Table(heading, SETTING_HEADS, printed)
    return Outcome(results, [table], texts, {stem: lambda: draw(points)})


def trials(base: Sequence[Run]) -> list[Trial]:
    """Give every value of the grid, and the value in use, of one setting after another."""
    found = []
    for setting, values in experiment_settings().hyper.items():
        for run in base:
            # A setting that the method lacks is refused here.
            method_settings(run.method, run.preset, **{**run.changes, setting: values[0]})
            used = getattr(method_settings(run.method, run.preset, **run.changes), setting)
            for value in sorted({*values, used}):
                in_use = value == used
                # Unchanged where the value is in use: one run serves all settings.
                changes = run.changes if in_use else {**run.changes, setting: value}
                found.append(Trial(setting, value, in_use, replace(run, changes=changes)))
    return found


def gather(tried: Sequence[Trial], results: Sequence[Result]) -> list[Point]:
    """Give the mean over seeds or folds for each setting, value and course."""
    found: dict[tuple[str, float, str, bool], list[Result]] = {}
    for trial, result in zip(tried, results, strict=True):
        key = (trial.setting, trial.value, trial.run.course, trial.used)
        found.setdefault(key, []).append(result)
    return [
        Point(*key, mean_metric(of_key, "f1"), mean_metric(of_key, "auc"))
        for key, of_key in found.items()
    ]


def draw(points: Sequence[Point]) -> Figure:
    """Draw a panel for each setting, with one curve for each course."""
    settings = _settings(points)
    rows = -(-len(settings) // 2)
    figure = new_figure(PAGE, 0.3 + 1.8 * rows, columns=2, rows=rows)
    for axis, letter, (setting, values) in zip(
        figure.axes, "abcdefgh", settings.items(), strict=False
    ):
        of_setting = [p for p in points if p.setting == setting]
        _draw_panel(axis, of_setting, values)
        axis.set_title(f"({letter}) {SYMBOLS.get(setting, setting)}", loc="left")
    for axis in figure.axes[len(settings) :]:
        axis.remove()
    draw_legend(figure)
    return figure


def _draw_panel(axis: Axes, points: Sequence[Point], values: Sequence[float]) -> None:
    places = {value: place for place, value in enumerate(values)}  # evenly spaced
    for index, course in enumerate(dict.fromkeys(p.course for p in points)):
        curve = [p for p in points if p.course == course]
        draw_curve(axis, index, course, [places[p.value] for p in curve], [p.auc for p in curve])
        (used,) = (p for p in curve if p.used)
        ring: dict[str, Any] = {"color": "black", "markerfacecolor": "none", "markeredgewidth": 0.8}
        label = "setting used" if course == points[-1].course else None
        axis.plot(
            places[used.value], used.auc, "o", markersize=9, linestyle="none", label=label, **ring
        )
    axis.set_xticks(range(len(values)), [_shown(value) for value in values])
    axis.set(ylabel="AUC")


def _settings(points: Sequence[Point]) -> dict[str, list[float]]:
    """Give every setting with all of its values, in order."""
    found: dict[str, set[float]] = {}
    for point in points:
        found.setdefault(point.setting, set()).add(point.value)
    return {setting: sorted(values) for setting, values in found.items()}


def _tables(points: Sequence[Point]) -> list[str]:
    """Give a table for each setting: F1 and AUC by course and value, the value in use in bold."""
    by_place = {(p.setting, p.value, p.course): p for p in points}
    courses = dict.fromkeys(p.course for p in points)
    found = []
    for setting, values in _settings(points).items():
        name = SYMBOLS.get(setting, setting)
        rows = [
            [course, *(_cell(by_place.get((setting, value, course))) for value in values)]
            for course in courses
        ]
        heads = [name, *(f"{value:g}" for value in values)]
        found.append(markdown_table(heads, rows))
    return found


def _cell(point: Point | None) -> str:
    if point is None:
        return "-"
    text = f"{point.f1:.3f} / {point.auc:.3f}"
    return f"**{text}**" if point.used else text


def _shown(value: float) -> str:
    """Give a number as an axis shows it: small ones as powers of ten."""
    if value == 0 or value >= 0.01:
        return f"{value:g}"
    digit, exponent = f"{value:.0e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if digit == "1" else f"${digit}\\!\\cdot\\!{power}$"
