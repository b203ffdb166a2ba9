"""RF: a random forest on pair features."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field
from sklearn.ensemble import RandomForestClassifier

from proprl.arrays import FloatArray
from proprl.models.base import Settings
from proprl.models.classical import ClassicalScorer, Lesson, Parameters
from proprl.models.forest import flat_forest, mean_share


class RandomForestSettings(Settings):
    """Settings of RF."""

    trees: int = Field(200, ge=1)


class RandomForestScorer(ClassicalScorer):
    """The mean over the trees of the share of positives in the leaf a pair falls into."""

    settings_type: ClassVar[type[Settings]] = RandomForestSettings

    def learn(self, lesson: Lesson) -> tuple[Parameters, dict[str, float | str]]:
        """Give the nodes of all trees."""
        forest: Any = RandomForestClassifier(
            self.settings.trees,
            class_weight=dict(enumerate(lesson.class_weights)),
            random_state=lesson.seed,
        ).fit(lesson.x, lesson.y)
        learned = flat_forest([tree.tree_ for tree in forest.estimators_])
        return learned, {"nodes": float(len(learned["column"]))}

    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:
        """Send each row down every tree: (m, 2d) -> (m,)."""
        return mean_share(x, learned)
