"""The public face: a model that is fitted on a course and answers questions about pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum import Explanation, PrerequisiteGraph, acyclic_graph
from proprl.data.course import Course, concept_text
from proprl.data.course_split import split_course
from proprl.data.lookup import find_concept
from proprl.data.new_concept import check_new_concept, rows_against
from proprl.data.splits import LabelledPairs
from proprl.errors import FeatureError, ProprlError, UnknownConceptError
from proprl.evaluation.calibration import Bin, reliability
from proprl.evaluation.metrics import evaluate_scores
from proprl.features.evidence import NONE, encode_alone, gather_evidence
from proprl.features.readings import NOBODY, read_concepts
from proprl.fitted import Fitted
from proprl.models.base import TakesNewConcepts
from proprl.models.needs import FEATURES, LABELS, check_inputs, offered_inputs
from proprl.models.registry import METHODS, method, method_settings
from proprl.progress import SILENT, Progress
from proprl.ranking import Strongest, all_pairs, connected_pairs
from proprl.training.checkpoint import Checkpoint

NamedPairs: TypeAlias = Any
"""Ordered pairs by name or id: a list of (source, target), or a frame with those columns."""


class PrerequisiteModel(BaseEstimator):  # type: ignore[misc]
    """A prerequisite learner, used as scikit-learn's estimators are.

    method    a name of the registry, e.g. "sequitur"
    preset    "default" (fast, chosen on validation) or "paper"
    seed      the same seed on the same machine gives the same bits
    encoder   text encoder for the concepts; "auto" takes the best that is installed
    split     "auto" (the course's own, else grouped), "given", "random" or "grouped"; "none"
              keeps the labels from a method that needs none
    settings  changes to the preset, e.g. {"alpha": 0.2}
    device    "auto", "cpu", "cuda"
    """

    def __init__(
        self,
        method: str = "sequitur",
        *,
        preset: str = "default",
        seed: int = 42,
        encoder: str = "auto",
        split: str = "auto",
        settings: Mapping[str, Any] | None = None,
        device: str = "auto",
    ) -> None:
        self.method = method
        self.preset = preset
        self.seed = seed
        self.encoder = encoder
        self.split = split
        self.settings = settings
        self.device = device

    def fit(
        self,
        course: Course,
        *,
        progress: Progress = SILENT,
        checkpoint: Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn from a course. With `checkpoint`, an interrupted fit can be resumed."""
        if not isinstance(course, Course):
            raise ProprlError(f"fit takes a course, not {course!r}: see proprl.load_course")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise ProprlError(f"seed must be a whole number from 0 to 2**32 - 1, not {self.seed}")
        settings = method_settings(self.method, self.preset, **(self.settings or {}))
        needs = method(self.method).needs
        check_inputs(self.method, needs, offered_inputs(course, needs, self.encoder), course.name)
        split = split_course(course, self.split, labels_needed=LABELS in needs)
        evidence, encoder = gather_evidence(
            course,
            self.encoder if FEATURES in needs else NONE,
            passages=settings.reads_passages,
            reader=settings.read_by,
            progress=progress,
        )
        run = {
            "course": course.fingerprint,
            "method": self.method,
            "seed": str(self.seed),
            "encoder": encoder,
            "split": split.protocol,
            **{name: str(value) for name, value in settings.model_dump().items()},
        }
        kept = Checkpoint(checkpoint, run, resume) if checkpoint else None
        scorer = method(self.method)(settings, device=self.device)
        report = scorer.fit(evidence, split, seed=self.seed, progress=progress, checkpoint=kept)
        self.fitted_ = Fitted.on(
            course,
            evidence,
            method=self.method,
            preset=self.preset,
            settings=settings,
            seed=self.seed,
            scorer=scorer,
            report=report,
            split=split,
            encoder=encoder,
            validation_metrics=_metrics(scorer, split.validation, report.threshold),
        )
        return self

    def predict_proba(self, pairs: NamedPairs) -> FloatArray:
        """Give, for each (source, target), the probability that source is a prerequisite."""
        return self._fitted.scorer.score(self._rows(pairs))

    def predict(self, pairs: NamedPairs) -> IntArray:
        """Give 1 for each pair that is believed to be a prerequisite, else 0."""
        return (self.predict_proba(pairs) >= self.threshold_).astype(np.int64)

    def predict_all(
        self,
        *,
        top: int | None = None,
        supported: bool = False,
        progress: Progress = SILENT,
    ) -> pl.DataFrame:
        """Score every ordered pair, and give them, or the `top` ones, by falling probability.

        With `supported`, only the pairs that the course itself connects; see `graph`.
        """
        if top is not None and top < 1:
            raise ProprlError(f"top must be 1 or more, not {top}")
        pairs, probabilities = self._strongest(top, 0.0, supported, progress)
        return _table(pairs, probabilities, self._fitted.concept_ids, self._fitted.concept_names)

    def predict_new(
        self,
        name: str,
        description: str = "",
        *,
        against: str | Iterable[str] | None = None,
        progress: Progress = SILENT,
    ) -> pl.DataFrame:
        """Score a concept that the model has never met with those it knows, in both orders.

        Of the new one only name and description are known. `against` is a name or id, or several;
        without it, all concepts. The pairs come by falling probability.
        """
        ids, names = self._fitted.concept_ids, self._fitted.concept_names
        name, description = check_new_concept(name, description, ids, names)
        others = rows_against(against, ids, names)
        scorer = self._fitted.scorer
        if not isinstance(scorer, TakesNewConcepts):
            able = ", ".join(m for m, cls in METHODS.items() if issubclass(cls, TakesNewConcepts))
            raise ProprlError(
                f"{self._fitted.method} scores only the concepts it was trained with; methods "
                f"that take new ones: {able}"
            )
        joined = scorer.joined_by(
            encode_alone(concept_text(name, description), self._fitted.encoder),
            self._read_alone(name, progress),
        )
        new = np.full(len(others), len(ids))
        pairs = np.vstack([np.column_stack([others, new]), np.column_stack([new, others])])
        strongest = Strongest(None, 0.0)
        strongest.add(pairs, joined.score(pairs))
        return _table(*strongest.result(), (*ids, name), (*names, name))

    def evaluate(
        self, course: Course | None = None, part: str = "test"
    ) -> dict[str, float | int | None]:
        """Give the metrics on a part of the split: "train", "validation" or "test".

        With a course, "test" is every labelled pair of it that the model has not seen in
        training or validation, so labels that were added later count too and none is scored
        that was learned from.
        """
        labelled = self.labelled_part(course, part)
        return _metrics(self._fitted.scorer, labelled, self.threshold_)

    def reliability(self, course: Course | None = None, part: str = "test") -> list[Bin]:
        """Say what was said of the pairs that `evaluate` scores, and what came true."""
        labelled = self.labelled_part(course, part)
        return reliability(labelled.labels, self._fitted.scorer.score(labelled.pairs))

    def labelled_part(self, course: Course | None, part: str) -> LabelledPairs:
        """Give the labelled pairs that `evaluate` scores."""
        parts = self._fitted.parts
        if part not in parts:
            raise ProprlError(f"there is no part {part!r}; known: {', '.join(parts)}")
        if course is None or part != "test":
            return parts[part]
        labelled = course.labelled_pairs()
        rows = self._rows_of(course)[labelled.pairs]
        seen = {tuple(p) for name in ("train", "validation") for p in parts[name].pairs.tolist()}
        fresh = [m for m, pair in enumerate(rows.tolist()) if tuple(pair) not in seen]
        return LabelledPairs(rows, labelled.labels).take(np.array(fresh, dtype=np.int64))

    def graph(self, *, threshold: float = 0.8, supported: bool = True) -> PrerequisiteGraph:
        """Give the acyclic, reduced graph of the prerequisites believed from `threshold` on.

        The labels' threshold is no guide here: among all pairs, prerequisites are far rarer
        than among labelled ones. For the same reason only pairs that the course itself
        connects are taken, unless `supported` is False: those that stand in one resource, or,
        in a course without resources, those that learners moved between.
        """
        fitted = self._fitted
        pairs, probabilities = self._strongest(None, threshold, supported)
        return acyclic_graph(
            fitted.concept_ids, fitted.concept_names, pairs, probabilities, threshold=threshold
        )

    def explain(self, source: str, target: str) -> Explanation:
        """Say what the probability of a pair is made of, and what the course shows of it."""
        fitted = self._fitted
        pair = self._rows([(source, target)])
        i, j = pair[0].tolist()
        details = {k: float(v[0]) for k, v in fitted.scorer.details(pair).items()}
        B, M = fitted.transitions, fitted.incidence
        return Explanation(
            source=fitted.concept_names[i],
            target=fitted.concept_names[j],
            probability=float(fitted.scorer.score(pair)[0]),
            reverse_probability=float(fitted.scorer.score(pair[:, ::-1].copy())[0]),
            threshold=self.threshold_,
            branches={b: details[b] for b in fitted.report.branch_weights},
            branch_weights=fitted.report.branch_weights,
            gate=details.get("gate"),
            order=details.get("order"),
            transitions=None if B is None else (float(B[i, j]), float(B[j, i])),
            shared_resources=None if M is None else int((M[[i]] @ M[[j]].T).sum()),
            label=self._label_of((i, j)),
            reverse_label=self._label_of((j, i)),
        )

    def save(self, folder: str | Path) -> None:
        """Write the model bundle; it predicts on another machine without the course."""
        self._fitted.save(Path(folder))

    def _read_alone(self, name: str, progress: Progress) -> FloatArray | None:
        """Give what the model's reader makes of a concept that came later, if it has a reader."""
        reader = self._fitted.settings.read_by
        if reader == NOBODY:
            return None
        try:
            return read_concepts([name], self._fitted.course_subject, reader, progress=progress)
        except FeatureError as error:
            raise FeatureError(
                f"the model was trained on what {reader} made of the concepts, and it has to read "
                f"about {name} too: {error}. A model trained with --set reader=none needs no reader"
            ) from error

    @property
    def threshold_(self) -> float:
        """The probability from which on a pair is called a prerequisite."""
        return self._fitted.report.threshold

    @property
    def _fitted(self) -> Fitted:
        if not hasattr(self, "fitted_"):
            raise ProprlError("the model is not fitted yet: call fit(course) or load_model(folder)")
        return self.fitted_

    def _strongest(
        self, top: int | None, threshold: float, supported: bool, progress: Progress = SILENT
    ) -> tuple[IntArray, FloatArray]:
        """Score all pairs, or the supported ones, and keep the strongest."""
        fitted = self._fitted
        n = len(fitted.concept_ids)
        connected = connected_pairs(fitted.transitions, fitted.incidence) if supported else None
        chunks = all_pairs(n) if connected is None else [connected]
        strongest = Strongest(top, threshold)
        progress.begin("scoring", len(chunks))
        for pairs in chunks:
            strongest.add(pairs, fitted.scorer.score(pairs))
            progress.step()
        progress.end()
        return strongest.result()

    def _rows(self, pairs: NamedPairs) -> IntArray:
        """Give named pairs as rows; unknown names are an error that suggests the nearest."""
        ids, names = self._fitted.concept_ids, self._fitted.concept_names
        row_of_id = {concept: row for row, concept in enumerate(ids)}

        def row(concept: object) -> int:
            known = row_of_id.get(str(concept))
            return find_concept(str(concept), ids, names) if known is None else known

        rows = [(row(source), row(target)) for source, target in _iterate(pairs)]
        for source, target in rows:
            if source == target:
                raise ProprlError(f"{names[source]} is paired with itself; give two concepts")
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    def _rows_of(self, course: Course) -> IntArray:
        """Give the model's row of each concept of a course; the labelled ones must be known."""
        row_of_id = {concept: row for row, concept in enumerate(self._fitted.concept_ids)}
        rows = np.array([row_of_id.get(concept, -1) for concept in course.ids], dtype=np.int64)
        asked = np.unique(course.labelled_pairs().pairs)
        unknown = [course.ids[row] for row in asked if rows[row] < 0]
        if unknown:
            raise UnknownConceptError(
                f"{len(unknown)} of the {len(asked)} concepts with labels in {course.name} are "
                f"unknown to the model, such as {unknown[0]!r}: it was trained on "
                f"{self._fitted.course_name}"
            )
        return rows

    def _label_of(self, pair: tuple[int, int]) -> tuple[int, str] | None:
        for part, labelled in self._fitted.parts.items():
            found = np.flatnonzero((labelled.pairs == pair).all(axis=1))
            if len(found):
                return int(labelled.labels[found[0]]), part
        return None


class ProPRL(PrerequisiteModel):
    """ProPRL: two graph views of each concept, fused by a gate for each ordered pair.

    Parameters as in `PrerequisiteModel`.
    """

    def __init__(
        self,
        *,
        preset: str = "default",
        seed: int = 42,
        encoder: str = "auto",
        split: str = "auto",
        settings: Mapping[str, Any] | None = None,
        device: str = "auto",
    ) -> None:
        super().__init__(
            "proprl",
            preset=preset,
            seed=seed,
            encoder=encoder,
            split=split,
            settings=settings,
            device=device,
        )


def load_model(folder: str | Path, *, device: str = "auto") -> PrerequisiteModel:
    """Give the model that was saved in `folder`; a damaged or foreign one is refused."""
    fitted = Fitted.load(Path(folder), device=device)
    model = PrerequisiteModel(
        fitted.method,
        preset=fitted.preset,
        seed=fitted.seed,
        encoder=fitted.encoder,
        split=fitted.split.protocol,
        settings=fitted.settings.model_dump(),
        device=device,
    )
    model.fitted_ = fitted
    return model


def _table(
    pairs: IntArray, probabilities: FloatArray, ids: Sequence[str], names: Sequence[str]
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "source": [ids[i] for i in pairs[:, 0]],
            "target": [ids[j] for j in pairs[:, 1]],
            "source_name": [names[i] for i in pairs[:, 0]],
            "target_name": [names[j] for j in pairs[:, 1]],
            "probability": probabilities,
        }
    )


def _metrics(scorer: Any, labelled: LabelledPairs, threshold: float) -> dict[str, Any]:
    """Score the pairs in both orders; a metric that is not defined (one class only) is None."""
    if len(labelled) == 0:
        return {"pairs": 0, "positives": 0}
    forward = scorer.score(labelled.pairs)
    reverse = scorer.score(labelled.pairs[:, ::-1].copy())
    found = evaluate_scores(
        labelled.labels, forward, reverse, pairs=labelled.pairs, threshold=threshold
    )
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in found.items()}


def _iterate(pairs: NamedPairs) -> Iterator[Any]:
    """Go through pairs given as a sequence of two, or as a frame with source and target."""
    if hasattr(pairs, "columns"):
        missing = [column for column in ("source", "target") if column not in list(pairs.columns)]
        if missing:
            raise ProprlError(
                f"the table of pairs lacks the column {missing[0]!r}; found {list(pairs.columns)}"
            )
        yield from zip(list(pairs["source"]), list(pairs["target"]), strict=True)
        return
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ProprlError(f"pairs are a list of (source, target) or a frame, not {pairs!r}")
    for position, pair in enumerate(pairs):
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise ProprlError(f"pair {position} is {pair!r}; expected (source, target)")
        yield pair
