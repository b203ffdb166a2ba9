"""The public face: a model that is fitted on a course and answers questions about pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from proprl.arrays import FloatArray, IntArray
from proprl.bundle import load_fitted, save_fitted
from proprl.curriculum.all_pairs import strongest_pairs
from proprl.curriculum.explanation import Answer, Explanation, answer_of, explain_pair
from proprl.curriculum.graph import PrerequisiteGraph, labels_alone_of, map_of
from proprl.curriculum.new_concept import score_new_concept
from proprl.curriculum.questions import QUESTIONS, Question, worth_asking
from proprl.data.course import Course
from proprl.data.lookup import NamedPairs, pair_rows, pair_table
from proprl.errors import ProprlError
from proprl.evaluation.metrics import Bin
from proprl.fitted import Expected, Fitted
from proprl.fitting import Choices, Unlabelled, fit
from proprl.judging import Judged, judge, judge_held_out, judge_part, unseen_labels
from proprl.progress import SILENT, Progress


class PrerequisiteModel(Choices, BaseEstimator):  # type: ignore[misc]
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
        self.fitted_ = fit(
            course,
            self,
            background=background,
            progress=progress,
            checkpoint=checkpoint,
            resume=resume,
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
        pairs, probabilities = strongest_pairs(self._fitted, top=top, progress=progress)
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
        pairs, probabilities = score_new_concept(
            self._fitted, name, description, against=against, progress=progress
        )
        ids, names = self._fitted.concept_ids, self._fitted.concept_names
        return _table(pairs, probabilities, (*ids, name.strip()), (*names, name.strip()))

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
        return map_of(self._fitted, threshold=threshold, progress=progress)

    def labels_alone(self) -> PrerequisiteGraph:
        """Give the graph of the known labels, without what was learned from them."""
        return labels_alone_of(self._fitted)

    def answer(self, source: str, target: str) -> Answer:
        """Give what the model and the labels say of a pair, without reasons."""
        return answer_of(self._fitted, self._rows([(source, target)]), self.threshold_)

    def explain(self, source: str, target: str) -> Explanation:
        """Say what speaks for a pair and against it, and what each reason is worth."""
        return explain_pair(self._fitted, self._rows([(source, target)]), self.threshold_)

    def questions(self, count: int = QUESTIONS, *, progress: Progress = SILENT) -> list[Question]:
        """Give the pairs without a label whose answers would help the map most, and why."""
        return worth_asking(self._fitted, count, progress=progress)

    def save(self, folder: str | Path, *, texts: bool = True) -> None:
        """Write the model bundle; it predicts on another machine without the course.

        With `texts` False, it holds no sentence of the resources; their ids and titles stay.
        """
        save_fitted(self._fitted, Path(folder), texts=texts)

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

    def _rows(self, pairs: NamedPairs) -> IntArray:
        return pair_rows(pairs, self._fitted.concept_ids, self._fitted.concept_names)


@dataclass(eq=False, repr=False)
class ProPRL(PrerequisiteModel):
    """ProPRL: two graph views of each concept, fused by a gate for each ordered pair."""

    method: str = "proprl"


def load_model(folder: str | Path, *, device: str = "auto") -> PrerequisiteModel:
    """Give the model that was saved in `folder`; a damaged or foreign one is refused."""
    fitted = load_fitted(Path(folder), device=device)
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
    return pair_table(pairs, ids, names).with_columns(probability=pl.Series(probabilities))
