"""The model that a command works with: of a bundle, or of a course that is trained on the way."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from proprl.cli.console import err, escape

if TYPE_CHECKING:
    from proprl.data import Course
    from proprl.estimator import PrerequisiteModel


def model_of(data: str) -> PrerequisiteModel:
    """Load a bundle, or train on a course; what was trained is kept while nothing changes."""
    from proprl.data import load_course
    from proprl.estimator import load_model
    from proprl.training.bundle import ROOT

    if (Path(data) / ROOT).exists():
        return load_model(data)
    return model_on(load_course(data))


def model_on(course: Course) -> PrerequisiteModel:
    """Train on a course, or load what was trained on it before."""
    from proprl import __version__
    from proprl.cli.progress_bar import ProgressBar
    from proprl.errors import BundleError, OutputError
    from proprl.estimator import PrerequisiteModel, load_model
    from proprl.features.encoders import resolve_encoder
    from proprl.files import cache_folder
    from proprl.training.bundle import ROOT

    decides = f"{__version__} {course.fingerprint} {resolve_encoder('auto')}"
    name = hashlib.sha256(decides.encode()).hexdigest()[:16]
    kept = cache_folder() / "models" / f"{name}.proprl"
    if (kept / ROOT).exists():
        with suppress(BundleError):  # damaged, or of another version: it is trained anew
            return load_model(kept)
    err.print(f"Training on {escape(course.name)}. The model is kept for the next time.")
    model = PrerequisiteModel().fit(course, progress=ProgressBar())
    try:
        model.save(kept)
    except OutputError as error:
        err.print(f"[yellow]The model could not be kept: {escape(str(error))}[/]")
    return model
