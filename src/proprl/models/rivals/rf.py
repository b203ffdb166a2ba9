"""RF: a random forest on pair features."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field
from sklearn.ensemble import RandomForestClassifier

from proprl.arrays import FloatArray
from proprl.models.base import Settings, State
from proprl.models.forests.tree_sum import TreeSum
from proprl.models.rivals.pair_vectors import ClassicalScorer, Facts, Parameters
from proprl.models.scorer import Task


class RandomForestSettings(Settings):
    """Settings of RF."""

    trees: int = Field(200, ge=1)


class RandomForestScorer(ClassicalScorer):
    """The mean over the trees of the share of positives in the leaf a pair falls into."""

    settings_type: ClassVar[type[Settings]] = RandomForestSettings

    forest: TreeSum

    def learned_from(self, x: FloatArray, task: Task) -> tuple[Parameters, Facts]:
        """Give the nodes of all trees."""
        forest: Any = RandomForestClassifier(
            self.settings.trees,
            class_weight=dict(enumerate(task.class_weights)),
            random_state=task.seed,
        ).fit(x, task.rows.labels)
        self.forest = TreeSum.from_sklearn(forest, x.shape[1])
        return self.forest.state(), {"leaves": float(self.forest.leaves.sum())}

    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:  # noqa: ARG002
        """Send each row down every tree: (m, 2d) -> (m,)."""
        return self.forest.sums(x)

    def take_up(self, state: State) -> None:
        """Take up the nodes of all trees too."""
        super().take_up(state)
        self.forest = TreeSum.restored(self.learned, 2 * self.X.shape[1])
