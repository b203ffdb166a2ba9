"""RF: a random forest on pair features."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field
from sklearn.ensemble import RandomForestClassifier

from proprl.arrays import FloatArray
from proprl.models.base import Settings
from proprl.models.forests.tree_sum import TreeSum
from proprl.models.rivals.pair_vectors import ClassicalScorer, Facts, Parameters
from proprl.models.scorer import Task


class RandomForestSettings(Settings):
    """Settings of RF."""

    trees: int = Field(200, ge=1)


class RandomForestScorer(ClassicalScorer):
    """The mean over the trees of the share of positives in the leaf a pair falls into."""

    settings_type: ClassVar[type[Settings]] = RandomForestSettings
    _taken_up: tuple[Parameters, TreeSum] | None = None

    def learned_from(self, x: FloatArray, task: Task) -> tuple[Parameters, Facts]:
        """Give the nodes of all trees."""
        forest: Any = RandomForestClassifier(
            self.settings.trees,
            class_weight=dict(enumerate(task.class_weights)),
            random_state=task.seed,
        ).fit(x, task.rows.labels)
        grown = TreeSum.from_sklearn(forest, x.shape[1])
        return grown.state(), {"leaves": float(grown.leaves.sum())}

    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:
        """Send each row down every tree: (m, 2d) -> (m,)."""
        return self._forest(learned).sums(x)

    def _forest(self, learned: Parameters) -> TreeSum:
        """Give the trees; they are checked and handed to the library once."""
        if self._taken_up is None or self._taken_up[0] is not learned:
            self._taken_up = learned, TreeSum.restored(learned, 2 * self.X.shape[1])
        return self._taken_up[1]
