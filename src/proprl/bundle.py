"""What a bundle says of a model, and whether it can be: the parts of `Fitted` on disk.

Checksums tell that a bundle is as it was written. They do not tell that a fit could have come to
what stands in it; that is checked here, before a number of it is shown to anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from proprl.arrays import FloatArray, SparseMatrix
from proprl.calibrating import Fit
from proprl.data.splits.labelled import PARTS, LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import BundleError, ProprlError
from proprl.evaluation.base_rate import Calibration, check_calibration
from proprl.graphs.evidence import Evidence
from proprl.models.base import CrossFits, FitReport, HeldOut
from proprl.training.bundle import (
    Arrays,
    pack_labelled,
    pack_sparse,
    read_bundle,
    unpack_labelled,
    unpack_sparse,
)

Files = Mapping[str, Arrays]

# What reading something else than a model may end in.
UNREADABLE: tuple[type[Exception], ...] = (
    ArithmeticError,
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    ProprlError,
    RuntimeError,
    TypeError,
    ValueError,
)
# A matrix that claims more resources would take the memory of the machine, not of a course.
MOST_RESOURCES = 10_000_000

CheckedCalibration = Annotated[Calibration, AfterValidator(check_calibration)]


class ConceptsSaid(BaseModel):
    """The concepts as `model.json` lists them."""

    ids: tuple[str, ...] = Field(min_length=1)
    names: tuple[str, ...]


class SplitSaid(BaseModel):
    """What `model.json` says of the split."""

    protocol: str
    promises_reversed: bool
    notes: tuple[str, ...]


class CourseSaid(BaseModel):
    """What `model.json` says of the course."""

    name: str
    subject: str
    fingerprint: str


class Said(BaseModel):
    """What `model.json` says of a model; see docs/bundle.md."""

    method: str
    preset: str
    settings: dict[str, Any]
    seed: int = Field(ge=0)
    report: FitReport
    calibration: CheckedCalibration | None
    calibration_of_new: CheckedCalibration | None
    background: int = Field(ge=0)
    split: SplitSaid
    notes: tuple[str, ...]
    concepts: ConceptsSaid
    encoder: str
    course: CourseSaid


def opened(folder: Path) -> tuple[dict[str, Any], Files]:
    """Give a bundle's description and arrays as they are; what cannot be read is refused."""
    try:
        return read_bundle(folder)
    except BundleError:
        raise
    except UNREADABLE as error:
        raise not_ours(folder, error) from error


def not_ours(folder: Path, error: Exception) -> BundleError:
    """Give the error for a bundle that is whole by its checksums, yet not what we write."""
    return BundleError(
        f"{folder} was not written by this version of proprl ({_in_words(error)}); train again"
    )


def _in_words(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, KeyError):
        return f"it lacks {error.args[0]}"
    return (str(error) or type(error).__name__).splitlines()[0]


def pack_held_out(held_out: HeldOut | None) -> dict[str, npt.NDArray[Any]]:
    """Give scores of held-out pairs as arrays; nothing where there are none."""
    if held_out is None:
        return {}
    return {
        **pack_labelled("labels", held_out.labels),
        "scores": held_out.scores,
        "background": held_out.background,
        "of_new": held_out.of_new,
    }


def unpack_held_out(arrays: Arrays) -> HeldOut | None:
    """Give back what `pack_held_out` made arrays of."""
    if not arrays:
        return None
    labels = unpack_labelled("labels", arrays)
    scores, background, of_new = (
        _scores(name, arrays[name]) for name in ("scores", "background", "of_new")
    )
    if len(scores) != len(labels):
        raise BundleError(f"there are {len(scores)} held-out scores of {len(labels)} labels")
    return HeldOut(labels, scores, background, of_new)


def _scores(name: str, array: FloatArray) -> FloatArray:
    if array.ndim != 1 or array.dtype.kind != "f" or not ((array >= 0) & (array <= 1)).all():
        raise BundleError(f"the held-out {name} are no list of numbers from 0 to 1")
    return array


def unpack_split(said: SplitSaid, arrays: Arrays, n: int) -> PairSplit:
    """Give back the split of the labels, which are about n concepts."""
    train, validation, test = (unpack_labelled(part, arrays) for part in PARTS)
    for name, part in zip(PARTS, (train, validation, test), strict=True):
        if (part.pairs >= n).any():
            raise BundleError(f"a label of {name} names a concept row that is not there")
    return PairSplit(
        train, validation, test, said.protocol, said.promises_reversed, notes=said.notes
    )


def pack_course(
    transitions: SparseMatrix | None, incidence: SparseMatrix | None
) -> dict[str, npt.NDArray[Any]]:
    """Give what explanations show of a course as arrays."""
    return pack_sparse("transitions", transitions) | pack_sparse("incidence", incidence)


def unpack_course(arrays: Arrays, n: int) -> Evidence:
    """Give back the moves and resources that explanations show, under vectors of nothing."""
    shown = Evidence(
        np.zeros((n, 1)),
        transitions=unpack_sparse("transitions", arrays),
        incidence=unpack_sparse("incidence", arrays),
    )
    if pack_course(shown.transitions, shown.incidence).keys() != arrays.keys():
        raise BundleError("the evidence holds half a matrix, or an empty one")
    return shown


def check_sizes(said: Said, files: Files) -> None:
    """Refuse concepts without a name, names without a concept, and matrices beyond all size."""
    ids, n = said.concepts.ids, len(said.concepts.ids)
    if len(said.concepts.names) != n or len(set(ids)) != n:
        raise BundleError("every concept has one id and one name, and no two have the same id")
    for name, array in [*files["weights"].items(), *files["evidence"].items()]:
        of_what = name.removeprefix("evidence/")
        if of_what in ("features", "readings", "concepts/X") and len(array) != n:
            raise BundleError(f"{n} concepts have ids, and {len(array)} have {of_what}")
        if of_what in ("transitions/shape", "named_in/shape", "incidence/shape"):
            rows, columns = array.tolist()
            if rows != n or not 0 <= columns <= MOST_RESOURCES:
                raise BundleError(f"{n} concepts have ids, and {of_what} is {rows} × {columns}")
        if of_what == "resource_links/shape" and not 0 <= array.max() <= MOST_RESOURCES:
            raise BundleError(f"{of_what} is {array.tolist()}")


def check_fit(fit: Fit, split: PairSplit, weights: Arrays, n: int) -> None:
    """Refuse parts of a fit that do not belong together."""
    known = split.train.joined(split.validation)
    crossed = isinstance(fit.scorer, CrossFits)
    _check_known(weights, known if crossed else split.train)
    _check_report(fit.report)
    first, of_new, held_out = fit.calibration, fit.calibration_of_new, fit.held_out
    if first is None or held_out is None:
        if not (first is None and of_new is None and held_out is None):
            raise BundleError("a calibration goes with the held-out scores that it was fitted to")
        return
    if held_out.labels != (known if crossed else split.validation):
        raise BundleError("the held-out labels are not those that the model was calibrated by")
    if (of_new is None) != (first.base_rate is None or not len(held_out.of_new)):
        raise BundleError("pairs with new concepts have scores and no calibration, or no scores")
    if of_new is not None and of_new.believed != first.believed:
        raise BundleError("one map has two probabilities from which on a pair is believed")
    if first.open_pairs + (of_new.open_pairs if of_new else 0) > n * (n - 1):
        raise BundleError(f"{n} concepts have fewer pairs than are said to be open")


def _check_report(report: FitReport) -> None:
    """Refuse what no fit can have used or chosen."""
    history = report.history
    if not 0 <= report.threshold <= 1 or min(report.class_weights) <= 0:
        raise BundleError(
            f"a threshold of {report.threshold} or class weights of {report.class_weights} "
            "cannot have been chosen"
        )
    if not -1 <= history.best_epoch < len(history.epochs):
        raise BundleError(f"there is no epoch {history.best_epoch} that could be the best")


def _check_known(weights: Arrays, learned: LabelledPairs) -> None:
    """Refuse a method that knows other labels than it can have learned from."""
    for name, array in (("known/pairs", learned.pairs), ("known/labels", learned.labels)):
        if name in weights and not np.array_equal(weights[name], array):
            raise BundleError(f"{name} of the weights are not those of the labels")
