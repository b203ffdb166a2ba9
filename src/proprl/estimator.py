"""The public face: a model that is fitted on a course and answers questions about pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from proprl.arrays import FloatArray, IntArray
from proprl.cautions import cautions
from proprl.curriculum import (
    LEARNED_FROM,
    Explanation,
    PrerequisiteGraph,
    labels_alone,
    prerequisite_graph,
)
from proprl.curriculum.candidates import Strongest, all_pairs, batches
from proprl.curriculum.new_concept import check_new_concept, rows_against
from proprl.data.course import Course, concept_text
from proprl.data.mentions import names_in_texts
from proprl.data.named_pairs import NamedPairs, background_rows, pair_rows, pair_table
from proprl.data.splits.course_split import split_course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import refuse_single_class
from proprl.errors import FeatureError, ProprlError
from proprl.evaluation.calibration import Bin
from proprl.explaining import explain_pair
from proprl.features.gather import NONE, encode_alone, gather_evidence
from proprl.features.readings import NOBODY, read_concepts, resolve_reader
from proprl.fitted import Expected, Fitted
from proprl.fitting import fit_scorer
from proprl.judging import Judged, judge, judge_held_out, judge_part, unseen_labels
from proprl.models.base import Settings, TakesNewConcepts
from proprl.models.needs import FEATURES, LABELS, check_inputs, offered_inputs
from proprl.models.registry import METHODS, method, method_settings
from proprl.pairs.background import draw_background
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint

Unlabelled: TypeAlias = NamedPairs | Literal["auto"] | None
"""Pairs without a label, as `NamedPairs`; "auto" draws them, None means none."""


class PrerequisiteModel(BaseEstimator):  # type: ignore[misc]
    """A prerequisite learner, used as scikit-learn's estimators are.

    method    a name of the registry, e.g. "sequitur"
    preset    "default" (fast, chosen on validation) or "paper"
    seed      the same seed on the same machine gives the same bits
    encoder   text encoder for the concepts; "auto" takes the best that is installed
    split     "auto": the test part of the course's own `split` column stays out, without such a
              column all labels are learned from; "given" insists on the column, "all" ignores
              it; "random" and "grouped" draw a test part; "none" keeps the labels from a method
              that needs none
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
        background: Unlabelled = "auto",
        progress: Progress = SILENT,
        checkpoint: Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn from a course's labels, and from pairs without a label (`background`).

        Background teaches how rare prerequisites are. "auto" draws it for methods that can learn
        from it, None means none; pairs of one's own are given by name or id, as a list or frame.
        With `checkpoint`, an interrupted fit can be resumed.
        """
        if not isinstance(course, Course):
            raise ProprlError(f"fit takes a course, not {course!r}: see proprl.load_course")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise ProprlError(f"seed must be a whole number from 0 to 2**32 - 1, not {self.seed}")
        settings = _findable(method_settings(self.method, self.preset, **(self.settings or {})))
        chosen = method(self.method)
        check_inputs(
            self.method,
            chosen.needs,
            offered_inputs(course, chosen.needs, self.encoder),
            course.name,
        )
        split = split_course(
            course,
            self.split,
            labels_needed=LABELS in chosen.needs,
            positives_suffice=chosen.takes_background and background is not None,
        )
        known = split.train.joined(split.validation)
        unlabelled = self._background(course, known, background)
        evidence, encoder = gather_evidence(
            course,
            self.encoder if FEATURES in chosen.needs else NONE,
            reader=settings.read_by,
            progress=progress,
        )
        run = {
            "course": course.fingerprint,
            "method": self.method,
            "seed": str(self.seed),
            "encoder": encoder,
            "split": split.protocol,
            "background": _digest(unlabelled),
            **{name: str(value) for name, value in settings.model_dump().items()},
        }
        fit = fit_scorer(
            chosen(settings, device=self.device),
            evidence,
            split,
            background=unlabelled,
            seed=self.seed,
            progress=progress,
            checkpoint=Checkpoint(checkpoint, run, resume) if checkpoint else None,
        )
        count = None if unlabelled is None else len(unlabelled)
        self.fitted_ = Fitted.on(
            course,
            evidence,
            method=self.method,
            preset=self.preset,
            settings=settings,
            seed=self.seed,
            fit=fit,
            split=split,
            background=count or 0,
            encoder=encoder,
            notes=tuple(
                cautions(self.method, fit, known, count, given=not isinstance(background, str))
            ),
        )
        return self

    def predict_proba(self, pairs: NamedPairs) -> FloatArray:
        """Give, for each (source, target), the probability that source is a prerequisite."""
        return self._fitted.fit.score(self._rows(pairs))

    def predict(self, pairs: NamedPairs) -> IntArray:
        """Give 1 for each pair that is believed to be a prerequisite, else 0; see `threshold_`."""
        threshold = self.threshold_
        if threshold is None:
            raise ProprlError(
                "nothing says which pairs to believe; predict_proba ranks them all the same. "
                + " ".join(self._fitted.notes)
            )
        return (self.predict_proba(pairs) >= threshold).astype(np.int64)

    def predict_all(self, *, top: int | None = None, progress: Progress = SILENT) -> pl.DataFrame:
        """Score every ordered pair, and give them, or the `top` ones, by falling probability."""
        if top is not None and top < 1:
            raise ProprlError(f"top must be 1 or more, not {top}")
        pairs, probabilities = self._strongest(top, 0.0, progress)
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
        fitted = self._fitted
        ids, names, scorer = fitted.concept_ids, fitted.concept_names, fitted.scorer
        name, description = check_new_concept(name, description, ids, names)
        others = rows_against(against, ids, names)
        if not isinstance(scorer, TakesNewConcepts):
            able = ", ".join(m for m, cls in METHODS.items() if issubclass(cls, TakesNewConcepts))
            raise ProprlError(
                f"{fitted.method} scores only the concepts it was trained with; methods "
                f"that take new ones: {able}"
            )
        text = concept_text(name, description)
        joined = scorer.joined_by(
            encode_alone(text, fitted.encoder),
            self._read_alone(name, progress),
            names_in_texts([*names, name], [*names, text]),
        )
        new = np.full(len(others), len(ids))
        pairs = np.vstack([np.column_stack([others, new]), np.column_stack([new, others])])
        strongest = Strongest(None, 0.0)
        strongest.add(pairs, replace(fitted.fit, scorer=joined).score(pairs))
        return _table(*strongest.result(), (*ids, name), (*names, name))

    def evaluate(
        self, course: Course | None = None, part: str = "auto"
    ) -> dict[str, float | int | None]:
        """Give the metrics on labelled pairs; `judged` also says what they hold for.

        "auto" takes pairs that were not learned from: the test part or, with a course, every
        labelled pair of it that was in neither training nor validation, so labels that were added
        later count too. A pair whose reverse was learned from counts as learned from. Where there
        are none, known labels are judged by cross-fitted scores.
        "test", "train" and "validation" are the parts of the split.

        The figures hold for pairs as people pick them, at their `threshold`; `base_rate` is the
        share of prerequisites in the whole map, as far as the model knows it.
        """
        return self.judged(course, part).metrics()

    def reliability(self, course: Course | None = None, part: str = "auto") -> list[Bin]:
        """Say what was said of the pairs that `evaluate` scores, and what came true.

        What is said of the whole map is converted to the rate of these labels.
        """
        return self.judged(course, part).reliability()

    def judged(self, course: Course | None = None, part: str = "auto") -> Judged:
        """Give what `evaluate` rests on: labels, what was said of them, and for which rate."""
        fitted = self._fitted
        if part not in ("auto", "test"):
            return judge_part(fitted, part)
        fresh = unseen_labels(fitted, course)
        if part == "auto" and not len(fresh):
            return judge_held_out(fitted)
        return judge(fitted, "test", fresh)

    def graph(
        self, *, threshold: float | None = None, progress: Progress = SILENT
    ) -> PrerequisiteGraph:
        """Give the acyclic, reduced graph of the known labels and of learned prerequisites.

        Known labels are law: confirmed pairs follow from it, rejected ones do not. Labels of the
        test part are not in it. Learned edges have at least the probability `threshold`.
        """
        fitted = self._fitted
        if threshold is None and fitted.believed is None:
            raise ProprlError(
                "nothing says from which probability on a pair of the whole map can be believed. "
                f"{' '.join(fitted.notes)} To draw a map all the same, give a threshold, such as "
                "graph(threshold=0.9)"
            )
        if threshold is None:
            threshold = LEARNED_FROM
        pairs, probabilities = self._strongest(None, threshold, progress)
        confirmed = fitted.known.positives  # for what the model says of them, however little
        return prerequisite_graph(
            fitted.concept_ids,
            fitted.concept_names,
            fitted.known,
            np.vstack([pairs, confirmed]),
            np.concatenate([probabilities, fitted.fit.score(confirmed)]),
            threshold=threshold,
        )

    def labels_alone(self) -> PrerequisiteGraph:
        """Give the graph of the known labels, without what was learned from them."""
        fitted = self._fitted
        return labels_alone(fitted.concept_ids, fitted.concept_names, fitted.known)

    def explain(self, source: str, target: str) -> Explanation:
        """Say what the probability of a pair is made of, and what the course shows of it."""
        return explain_pair(self._fitted, self._rows([(source, target)]), self.threshold_)

    def save(self, folder: str | Path) -> None:
        """Write the model bundle; it predicts on another machine without the course."""
        self._fitted.save(Path(folder))

    @property
    def threshold_(self) -> float | None:
        """The probability from which on a pair is called a prerequisite.

        It is the one for the whole map where the model knows how rare prerequisites are, else the
        one for pairs as people pick them; None where it has learned from too few labels, or from
        prerequisites alone.
        """
        fitted = self._fitted
        if fitted.believed is not None:
            return fitted.believed
        too_few = len(fitted.known) > 0 and not fitted.enough
        return None if too_few or fitted.positives_alone else fitted.report.threshold

    @property
    def expected_(self) -> Expected | None:
        """How many prerequisites there are among open pairs; None where that cannot be told."""
        return self._fitted.expected

    @property
    def _fitted(self) -> Fitted:
        if not hasattr(self, "fitted_"):
            raise ProprlError("the model is not fitted yet: call fit(course) or load_model(folder)")
        return self.fitted_

    def _background(
        self, course: Course, known: LabelledPairs, asked: Unlabelled
    ) -> IntArray | None:
        """Give the pairs without a label to learn from, as rows (k, 2); None for none at all."""
        rows, chosen = None, method(self.method)
        if isinstance(asked, str) and asked == "auto":
            if chosen.takes_background:
                rows = draw_background(known, len(course), seed=self.seed)
        elif asked is not None:
            given = background_rows(asked, known, course.ids, course.names)
            rows = given if len(given) else None
            if rows is not None and not chosen.takes_background:
                raise ProprlError(
                    f"{self.method} learns nothing from pairs without a label: fit it with "
                    "background=None"
                )
        if LABELS in chosen.needs and (rows is None or not len(rows)):
            refuse_single_class(known, course.name)
        return rows

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
                f"about {name} too: {error}. A model trained without a reader needs none"
            ) from error

    def _strongest(
        self, top: int | None, threshold: float, progress: Progress = SILENT
    ) -> tuple[IntArray, FloatArray]:
        """Score all pairs and keep the strongest."""
        fitted = self._fitted
        pairs = all_pairs(len(fitted.concept_ids))
        parts = batches(pairs)
        strongest = Strongest(top, threshold)
        progress.begin("scoring", len(parts))
        for here in parts:
            strongest.add(pairs[here], fitted.fit.score(pairs[here]))
            progress.step()
        progress.end()
        return strongest.result()

    def _rows(self, pairs: NamedPairs) -> IntArray:
        return pair_rows(pairs, self._fitted.concept_ids, self._fitted.concept_names)


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


def _findable(settings: Settings) -> Settings:
    """Name a reader as a saved model finds it again; one that cannot be had here is an error."""
    if settings.read_by == NOBODY:
        return settings
    return settings.model_copy(update={"reader": resolve_reader(settings.read_by)})


def _table(
    pairs: IntArray, probabilities: FloatArray, ids: Sequence[str], names: Sequence[str]
) -> pl.DataFrame:
    return pair_table(pairs, ids, names).with_columns(probability=pl.Series(probabilities))


def _digest(pairs: IntArray | None) -> str:
    """Name pairs by what they are, so that a run is continued with the same ones."""
    if pairs is None:
        return "none"
    return hashlib.sha256(np.ascontiguousarray(pairs).tobytes()).hexdigest()
