"""`proprl train`."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proprl.cli import INTERRUPTED, interrupts_raised
from proprl.cli.console import err, escape, print_json, say
from proprl.cli.options import Data, Json, Seed

if TYPE_CHECKING:
    from proprl.data import Course
    from proprl.estimator import PrerequisiteModel
    from proprl.fitted import Fitted

CHECKPOINT = "checkpoint.safetensors"


class Background(StrEnum):
    """Where pairs without a label come from."""

    AUTO = "auto"
    NONE = "none"


Method = Annotated[
    str,
    typer.Option(
        help="The method: sequitur, proprl, dgcpl, rf, svm, refd, …; the README and the error "
        "for an unknown name list all."
    ),
]
Preset = Annotated[
    str,
    typer.Option(help="default: chosen on validation; paper: as published (methods of a paper)."),
]
Encoder = Annotated[
    str, typer.Option(help="auto, wordllama, tfidf, or sentence-transformers:NAME.")
]
Unlabelled = Annotated[
    Background,
    typer.Option(help="Pairs without a label to learn from: drawn (auto), or none."),
]
Split = Annotated[
    str,
    typer.Option(
        help="auto: a test part that the course names stays out, else all labels are learned "
        "from; grouped, random: draw a test part; given, all, none."
    ),
]
Reader = Annotated[
    str | None,
    typer.Option(
        metavar="NAME_OR_FOLDER",
        help="A language model that reads about the concepts: a folder, or a name on the "
        "Hugging Face hub.",
        show_default="none",
    ),
]
Change = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the preset."),
]
Out = Annotated[
    Path | None, typer.Option(help="Where to write the model.", show_default="NAME.proprl")
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on with an interrupted run; for methods that learn in epochs."
    ),
]
WithoutTexts = Annotated[
    bool,
    typer.Option(
        "--without-texts",
        help="Leave sentences of the resources out of the model; ids and titles stay.",
    ),
]


def train(
    data: Data,
    model: Method = "sequitur",
    preset: Preset = "default",
    seed: Seed = 42,
    encoder: Encoder = "auto",
    background: Unlabelled = Background.AUTO,
    split: Split = "auto",
    reader: Reader = None,
    change: Change = None,
    out: Out = None,
    resume: Resume = False,
    without_texts: WithoutTexts = False,
    as_json: Json = False,
) -> None:
    """Train a model on a course and save it.

    Example: proprl train campus --seed 7 --out campus.proprl
    """
    from proprl.data import load_course
    from proprl.estimator import PrerequisiteModel
    from proprl.models.registry import method_settings
    from proprl.training.bundle import check_destination

    changes = _settings(change or []) | ({"reader": reader} if reader is not None else {})
    method_settings(model, preset, **changes)  # a wrong word is found before anything is read
    course = load_course(data)
    folder = out or Path(f"{_file_name(course.name)}.proprl")
    check_destination(folder)
    checkpoint = folder / CHECKPOINT
    _say_where_it_begins(checkpoint, resume)
    estimator = PrerequisiteModel(
        model, preset=preset, seed=seed, encoder=encoder, split=split, settings=changes
    )
    started = time.perf_counter()
    unlabelled = None if background is Background.NONE else "auto"
    _fit(estimator, course, background=unlabelled, checkpoint=checkpoint, resume=resume)
    estimator.save(folder, texts=not without_texts)
    checkpoint.unlink(missing_ok=True)
    seconds = time.perf_counter() - started
    if as_json:
        print_json(summary(estimator.fitted_, folder, seconds))
    else:
        print_summary(estimator.fitted_, folder, seconds)


def _say_where_it_begins(checkpoint: Path, resume: bool) -> None:
    """Tell of an unfinished run that is dropped, or of one that is not there."""
    where = escape(str(checkpoint.parent))
    if checkpoint.exists() and not resume:
        err.print(f"Starting over; the unfinished run in {where} is dropped (--resume keeps it).")
    if resume and not checkpoint.exists():
        err.print(f"There is no unfinished run in {where}; training from the beginning.")


def _fit(estimator: PrerequisiteModel, course: Course, *, checkpoint: Path, **how: Any) -> None:
    """Fit with a progress bar; Ctrl-C tells how to go on."""
    from proprl.cli.progress_bar import ProgressBar

    progress = ProgressBar()
    try:
        with interrupts_raised():
            estimator.fit(course, checkpoint=checkpoint, progress=progress, **how)
    except KeyboardInterrupt:
        progress.end()
        err.print(escape(_how_to_resume(checkpoint)), soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        progress.end()


def summary(fitted: Fitted, folder: Path, seconds: float) -> dict[str, Any]:
    """Give what a training run came to, as JSON values."""
    from proprl.curriculum.summary import contradictions
    from proprl.judging import judge_held_out

    history, judged = fitted.report.history, judge_held_out(fitted)
    return {
        "bundle": str(folder),
        "course": fitted.course_name,
        "method": fitted.method,
        "preset": fitted.preset,
        "seed": fitted.seed,
        "encoder": fitted.encoder,
        "reader": fitted.settings.read_by,
        "views": list(fitted.report.views),
        "missing_views": list(fitted.report.missing_views),
        "class_weights": list(fitted.report.class_weights),
        "branch_weights": dict(fitted.report.branch_weights),
        "facts": dict(fitted.report.facts),
        "split": {name: len(part) for name, part in fitted.parts.items()}
        | {"protocol": fitted.split.protocol, "notes": list(fitted.split.notes)},
        "background": fitted.background,
        "expected": None if fitted.expected is None else asdict(fitted.expected),
        "believed": fitted.believed,
        "threshold": fitted.report.threshold,
        "notes": list(fitted.notes),
        "contradictions": contradictions(fitted),
        "epochs": len(history.epochs),
        "best_epoch": history.best_epoch + 1,
        "held_out": {"how": judged.how, **judged.metrics()},
        "seconds": round(seconds, 2),
    }


def print_summary(fitted: Fitted, folder: Path, seconds: float) -> None:
    """Tell a person what was learned from, what is expected of the map and what came out."""
    from proprl.curriculum.summary import contradictions

    say(f"[bold]{escape(fitted.course_name)}[/]: {len(fitted.concept_ids)} concepts")
    for name, text in [*_learned_from(fitted), *_chosen(fitted), *_came_out(fitted)]:
        say(f"  {name:11} {escape(text)}")
    for note in (*contradictions(fitted), *fitted.notes, *fitted.split.notes):
        say(f"  [yellow]{escape(note)}[/]")
    say(f"Saved [bold]{escape(str(folder))}[/] after {seconds:.1f} s.")


def _learned_from(fitted: Fitted) -> Iterator[tuple[str, str]]:
    """Say which evidence, labels and background were learned from, and what is missing."""
    from proprl.curriculum.summary import kinds_missing, kinds_used
    from proprl.data.splits.parts import NO_SPLIT

    report, parts = fitted.report, fitted.parts
    yield "evidence", ", ".join(kinds_used(fitted))
    for view, what in zip(report.missing_views, kinds_missing(fitted), strict=True):
        yield "missing", f"{what}: the {view} view is switched off"
    if fitted.split.protocol == NO_SPLIT:
        yield "labels", "none used"
    else:
        apart = f", {len(parts['test'])} kept apart as test" if len(parts["test"]) else ""
        learned = f"{len(parts['train'])} train + {len(parts['validation'])} validation"
        yield "labels", f"{learned}{apart} ({fitted.split.protocol} split)"
    if fitted.background:
        yield "background", f"{fitted.background:,} pairs without a label"
    if report.class_weights != (1.0, 1.0):
        share = fitted.known.positive_share
        yield "classes", f"{share:.0%} positive: labels are weighted so that both count alike"


def _chosen(fitted: Fitted) -> Iterator[tuple[str, str]]:
    """Say what the method chose or found."""
    history = fitted.report.history
    if history.epochs:
        yield "kept", f"epoch {history.best_epoch + 1} of {len(history.epochs)}"
    weights = ", ".join(f"{name} {w:.2f}" for name, w in fitted.report.branch_weights.items())
    if weights:
        yield "branches", weights
    facts = [
        f"{name} {value if isinstance(value, str) else format(value, '.4g')}"
        for name, value in fitted.report.facts.items()
    ]
    if facts:
        yield "found", ", ".join(facts)


def _came_out(fitted: Fitted) -> Iterator[tuple[str, str]]:
    """Say how many prerequisites are expected, what is believed, and how good that is."""
    from proprl.curriculum.graph import LEARNED_FROM
    from proprl.data.splits.labelled import DRAWN
    from proprl.judging import judge_held_out

    if expected := fitted.expected:
        rough = "" if DRAWN in fitted.known.origin else "; may be several times off"
        yield (
            "expects",
            f"about {expected.number:.0f} more prerequisites ({expected.low:.0f} to "
            f"{expected.high:.0f}) among {expected.open_pairs:,} open pairs{rough}",
        )
    if fitted.believed is not None:
        less = f"; pairs from {fitted.believed:.2f} on are among the likeliest"
        less = less if fitted.believed < LEARNED_FROM else ""
        yield "believed", f"from probability {LEARNED_FROM:.2f} on, as in the map{less}"
    judged = judge_held_out(fitted)
    if (metrics := judged.metrics()).get("auc") is not None:
        figures = f"AUC {metrics['auc']:.3f}, F1 {metrics['f1']:.3f}"
        yield judged.how, f"{figures} on {metrics['pairs']} labels, as people pick them"
    for doubt in judged.doubts():
        yield "", doubt


def _settings(changes: list[str]) -> dict[str, str]:
    """Read NAME=VALUE; the settings' own types do the rest."""
    settings: dict[str, str] = {}
    for change in changes:
        name, sign, value = change.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"{change!r} is not NAME=VALUE", param_hint="--set")
        settings[name] = value
    return settings


def _how_to_resume(checkpoint: Path) -> str:
    if not checkpoint.exists():
        return "No epoch was done yet, so nothing was kept; start again with the same command."
    command = shlex.join(["proprl", *(word for word in sys.argv[1:] if word != "--resume")])
    return f"The last whole epoch is kept; go on with:\n  {command} --resume"


def _file_name(course: str) -> str:
    """Give a course's name as that of a file in this folder, whatever characters it holds."""
    return re.sub(r"[^\w.-]+", "-", course).strip("-.") or "course"
