"""A fitted model on disk: what `model.json` says of it, its arrays, and whether a fit wrote them.

Checksums tell that a bundle is as it was written. They do not tell that its content can come from
a fit. That is checked here, before anybody is shown a number of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from proprl import __version__
from proprl.arrays import FloatArray, SparseMatrix
from proprl.calibrating import Fit
from proprl.data.resources import Resources
from proprl.data.splits.labelled import PARTS, LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import BundleError
from proprl.evaluation.base_rate import Calibration, check_calibration
from proprl.fitted import Fitted
from proprl.graphs.evidence import Evidence
from proprl.models.base import CrossFits, FitReport, HeldOut
from proprl.models.registry import method
from proprl.training.bundle import (
    Arrays,
    bundle_files,
    pack_labelled,
    pack_sentences,
    pack_sparse,
    read_bundle,
    unpack_labelled,
    unpack_sentences,
    unpack_sparse,
    write_bundle,
)

Files = Mapping[str, Arrays]

# A matrix that claims more resources would take the memory of the machine, not of a course.
MOST_RESOURCES = 10_000_000

CheckedCalibration = Annotated[Calibration, AfterValidator(check_calibration)]


class ConceptsSaid(BaseModel):
    """The concepts as `model.json` lists them."""

    ids: tuple[str, ...] = Field(min_length=1)
    names: tuple[str, ...]
    topics: tuple[str, ...]


class ResourcesSaid(BaseModel):
    """The resources as `model.json` lists them."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]


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
    """What `model.json` says of a model, in the order of the file; see docs/bundle.md."""

    proprl: str
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
    resources: ResourcesSaid | None
    encoder: str
    course: CourseSaid


def save_fitted(fitted: Fitted, folder: Path, *, texts: bool = True) -> None:
    """Write the bundle, whole or not at all. The same fit gives the same bytes.

    With `texts` False, sentences of the resources are left out.
    """
    if fitted.resources is not None and not texts:
        fitted = replace(fitted, resources=fitted.resources.without_texts())
    write_bundle(folder, _said_of(fitted), _arrays_of(fitted))


def bundle_size(fitted: Fitted) -> int:
    """How many bytes the bundle of a model takes."""
    return sum(map(len, bundle_files(_said_of(fitted), _arrays_of(fitted)).values()))


def load_fitted(folder: Path, *, device: str = "auto") -> Fitted:
    """Read a bundle; a damaged, foreign, too old or too new one is refused."""
    try:
        content, files = read_bundle(folder)
    except BundleError:
        raise
    except Exception as error:  # reading what is no model of ours may end in anything
        raise _not_ours(folder, error) from error
    try:
        said = Said.model_validate(content)
        _check_sizes(said, files)
        return _fitted_from(said, files, device)
    except Exception as error:
        raise _not_ours(folder, error) from error


def _not_ours(folder: Path, error: Exception) -> BundleError:
    """Give the error for a bundle that is whole by its checksums, yet not what we write."""
    words = (str(error) or type(error).__name__).splitlines()[0]
    if isinstance(error, KeyError):
        words = f"it lacks {error.args[0]}"
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        words = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return BundleError(f"{folder} was not written by this version of proprl ({words}); train again")


def _said_of(fitted: Fitted) -> dict[str, Any]:
    split, shown = fitted.split, fitted.resources
    said = Said(
        proprl=__version__,
        method=fitted.method,
        preset=fitted.preset,
        settings=fitted.settings.model_dump(mode="json"),
        seed=fitted.seed,
        report=fitted.report,
        calibration=fitted.fit.calibration,
        calibration_of_new=fitted.fit.calibration_of_new,
        background=fitted.background,
        split=SplitSaid.model_validate(split, from_attributes=True),
        notes=fitted.notes,
        concepts=ConceptsSaid(
            ids=fitted.concept_ids, names=fitted.concept_names, topics=fitted.topics
        ),
        resources=None if shown is None else ResourcesSaid(ids=shown.ids, titles=shown.titles),
        encoder=fitted.encoder,
        course=CourseSaid(
            name=fitted.course_name,
            subject=fitted.course_subject,
            fingerprint=fitted.course_fingerprint,
        ),
    )
    return said.model_dump(mode="json")


def _arrays_of(fitted: Fitted) -> Files:
    labels: dict[str, npt.NDArray[Any]] = {}
    for part, labelled in fitted.parts.items():
        labels |= pack_labelled(part, labelled)
    return {
        "weights": fitted.scorer.state(),
        "labels": labels,
        "heldout": _pack_held_out(fitted.fit.held_out),
        "evidence": _shown(fitted),
        "texts": {} if fitted.resources is None else pack_sentences(fitted.resources.sentences),
    }


def _shown(of: Fitted | Evidence) -> dict[str, npt.NDArray[Any]]:
    """Give what explanations show of a course as arrays."""
    return pack_sparse("transitions", of.transitions) | pack_sparse("incidence", of.incidence)


def _pack_held_out(held_out: HeldOut | None) -> dict[str, npt.NDArray[Any]]:
    """Give scores of held-out pairs as arrays; nothing where there are none."""
    if held_out is None:
        return {}
    return {
        **pack_labelled("labels", held_out.labels),
        "scores": held_out.scores,
        "background": held_out.background,
        "of_new": held_out.of_new,
    }


def _fitted_from(said: Said, files: Files, device: str) -> Fitted:
    """Give the model that a bundle holds; parts that do not fit together are refused."""
    n = len(said.concepts.ids)
    split = _unpack_split(said.split, files["labels"], n)
    scorer_class = method(said.method)
    settings = scorer_class.settings_type(**said.settings)
    fit = Fit(
        scorer_class.restore(settings, files["weights"], said.report, device=device),
        said.report,
        said.calibration,
        _unpack_held_out(files["heldout"]),
        said.calibration_of_new,
        np.unique(split.train.joined(split.validation).pairs),
    )
    _check_fit(fit, split, files["weights"], n)
    # Vectors of nothing, so that the matrices are checked as those of a course are.
    shown = Evidence(
        np.zeros((n, 1)),
        transitions=unpack_sparse("transitions", files["evidence"]),
        incidence=unpack_sparse("incidence", files["evidence"]),
    )
    if _shown(shown).keys() != files["evidence"].keys():
        raise BundleError("the evidence holds half a matrix, or an empty one")
    return Fitted(
        method=said.method,
        preset=said.preset,
        settings=settings,
        seed=said.seed,
        fit=fit,
        split=split,
        background=said.background,
        notes=said.notes,
        concept_ids=said.concepts.ids,
        concept_names=said.concepts.names,
        encoder=said.encoder,
        course_name=said.course.name,
        course_subject=said.course.subject,
        course_fingerprint=said.course.fingerprint,
        transitions=shown.transitions,
        incidence=shown.incidence,
        topics=said.concepts.topics,
        resources=_unpack_resources(said.resources, files["texts"], shown.incidence),
    )


def _unpack_resources(
    said: ResourcesSaid | None, texts: Arrays, incidence: SparseMatrix | None
) -> Resources | None:
    """Give the resources, which are those of the columns of `incidence`."""
    if said is None:
        if texts:
            raise BundleError("there are sentences of no resources")
        return None
    m = 0 if incidence is None else incidence.shape[1]
    if not len(said.ids) == len(said.titles) == len(set(said.ids)) == m:
        raise BundleError(
            f"{m} resources hold concepts, and there are {len(said.ids)} ids and "
            f"{len(said.titles)} titles; each has one id and one title, and no two the same id"
        )
    return Resources(said.ids, said.titles, unpack_sentences(texts, incidence))


def _unpack_split(said: SplitSaid, arrays: Arrays, n: int) -> PairSplit:
    """Give the split of the labels, which are about n concepts."""
    train, validation, test = (unpack_labelled(part, arrays) for part in PARTS)
    for name, part in zip(PARTS, (train, validation, test), strict=True):
        if (part.pairs >= n).any():
            raise BundleError(f"a label of {name} names a concept row that is not there")
    return PairSplit(train, validation, test, **said.model_dump())


def _unpack_held_out(arrays: Arrays) -> HeldOut | None:
    """Give back what `_pack_held_out` made arrays of."""
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


def _check_sizes(said: Said, files: Files) -> None:
    """Refuse concepts without a name, names without a concept, and matrices beyond all size."""
    ids, n = said.concepts.ids, len(said.concepts.ids)
    if len(said.concepts.names) != n or len(set(ids)) != n:
        raise BundleError("every concept has one id and one name, and no two have the same id")
    topics = said.concepts.topics
    if topics and (len(topics) != n or not any(topics)):
        raise BundleError(f"{n} concepts have ids, and the topics are not theirs")
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


def _check_fit(fit: Fit, split: PairSplit, weights: Arrays, n: int) -> None:
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


def _check_known(weights: Arrays, learned: LabelledPairs) -> None:
    """Refuse a method that knows other labels than it can have learned from."""
    for name, array in (("known/pairs", learned.pairs), ("known/labels", learned.labels)):
        if name in weights and not np.array_equal(weights[name], array):
            raise BundleError(f"{name} of the weights are not those of the labels")


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
