"""`proprl train`."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proprl.cli.options import Data, Json

if TYPE_CHECKING:
    from proprl.fitted import Fitted

CHECKPOINT = "checkpoint.safetensors"
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def train(
    data: Data,
    model: Annotated[str, typer.Option(help="The method to train.")] = "proprl",
    preset: Annotated[
        str, typer.Option(help="default: fast, chosen on validation; paper: as published.")
    ] = "default",
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.", min=0)] = 42,
    encoder: Annotated[
        str, typer.Option(help="auto, wordllama, tfidf, or sentence-transformers:NAME.")
    ] = "auto",
    split: Annotated[
        str, typer.Option(help="auto (the course's own, else grouped), given, random, grouped.")
    ] = "auto",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the preset."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the model.", show_default="NAME.proprl")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train a model on a course and save it.

    Example: proprl train campus --seed 7 --out campus.proprl
    """
    from proprl.cli.console import ProgressBar, err, escape, print_json
    from proprl.data import load_course
    from proprl.estimator import PrerequisiteModel
    from proprl.training.bundle import check_destination

    course = load_course(data)
    folder = out or Path(f"{course.name}.proprl")
    check_destination(folder)
    checkpoint = folder / CHECKPOINT
    if checkpoint.exists() and not resume:
        where = escape(str(folder))
        err.print(f"Starting over; the unfinished run in {where} is dropped (--resume keeps it).")
    estimator = PrerequisiteModel(
        model,
        preset=preset,
        seed=seed,
        encoder=encoder,
        split=split,
        settings=_settings(change or []),
    )
    progress = ProgressBar()
    started = time.perf_counter()
    try:
        estimator.fit(course, progress=progress, checkpoint=checkpoint, resume=resume)
    except KeyboardInterrupt:
        progress.end()
        err.print(escape(_how_to_resume(checkpoint)), soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        progress.end()
    estimator.save(folder)
    checkpoint.unlink(missing_ok=True)
    seconds = time.perf_counter() - started
    if as_json:
        print_json(summary(estimator.fitted_, folder, seconds))
    else:
        print_summary(estimator.fitted_, folder, seconds)


def summary(fitted: Fitted, folder: Path, seconds: float) -> dict[str, Any]:
    """Give what a training run came to, as JSON values."""
    history = fitted.report.history
    return {
        "bundle": str(folder),
        "course": fitted.course_name,
        "method": fitted.method,
        "preset": fitted.preset,
        "seed": fitted.seed,
        "encoder": fitted.encoder,
        "views": list(fitted.report.views),
        "missing_views": list(fitted.report.missing_views),
        "class_weights": list(fitted.report.class_weights),
        "branch_weights": dict(fitted.report.branch_weights),
        "threshold": fitted.report.threshold,
        "split": {name: len(part) for name, part in fitted.parts.items()}
        | {"protocol": fitted.split.protocol, "notes": list(fitted.split.notes)},
        "epochs": len(history.epochs),
        "best_epoch": history.best_epoch + 1,
        "validation": dict(fitted.validation_metrics),
        "seconds": round(seconds, 2),
    }


def print_summary(fitted: Fitted, folder: Path, seconds: float) -> None:
    """Tell a person what was used, what was chosen and what came out."""
    from proprl.cli.console import escape, say

    report, parts = fitted.report, fitted.parts
    sizes = " / ".join(str(len(part)) for part in parts.values())
    used = [{"resource": "resources", "behaviour": "behaviour"}[view] for view in report.views]
    say(f"[bold]{escape(fitted.course_name)}[/]: {len(fitted.concept_ids)} concepts")
    say(f"  evidence    {', '.join(['texts (' + fitted.encoder + ')', *used])}")
    for view in report.missing_views:
        what = "learner behaviour" if view == "behaviour" else "resources that hold concepts"
        say(f"  [yellow]missing     {what}: the {view} view is switched off[/]")
    say(f"  labels      {sizes} for train / validation / test ({fitted.split.protocol} split)")
    for note in fitted.split.notes:
        say(f"              {escape(note)}")
    share = parts["train"].positive_share
    if report.class_weights != (1.0, 1.0):
        say(f"  classes     {share:.0%} positive: labels are weighted so that both count alike")
    history = report.history
    if history.epochs:
        say(f"  kept        epoch {history.best_epoch + 1} of {len(history.epochs)}")
    weights = ", ".join(f"{name} {w:.2f}" for name, w in report.branch_weights.items())
    if weights:
        say(f"  branches    {weights}")
    auc = fitted.validation_metrics.get("auc")
    f1 = fitted.validation_metrics.get("f1")
    if auc is not None and f1 is not None:
        say(f"  validation  AUC {auc:.3f}, F1 {f1:.3f} (threshold {report.threshold:.2f})")
    say(f"Saved [bold]{escape(str(folder))}[/] after {seconds:.1f} s.")


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
        return "Stopped before the first epoch was done; nothing was written."
    command = shlex.join(["proprl", *(word for word in sys.argv[1:] if word != "--resume")])
    return f"Stopped. The last whole epoch is kept; go on with:\n  {command} --resume"
