"""What every method with a network shares: how it is trained, scored, kept and given back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.metrics import best_threshold, enough_to_choose, simplex_weights
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport, Settings, label_weights, state_part, training_rows
from proprl.models.needs import SUPERVISED
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint
from proprl.training.loop import Schedule, train_network
from proprl.training.seeding import pick_device, seeded

# Pairs scored at once: bounds the memory that wide pair representations take.
SCORED_AT_ONCE = 4_096


class NetworkSettings(Settings):
    """Settings that every network has."""

    epochs: int = Field(50, ge=1)
    batch_size: int | None = Field(16, ge=1)  # None: a share of the pairs, within bounds
    learning_rate: float = Field(1e-4, gt=0, le=10)
    weight_decay: float = Field(0.0, ge=0)
    patience: int | None = Field(None, ge=1)
    threshold: float | None = Field(0.5, ge=0, le=1)  # None: chosen on validation
    batch_share: ClassVar[tuple[int, int]] = (4, 32)  # a quarter of the pairs, from 32 to 256

    def schedule(self, training_pairs: int) -> Schedule:
        """Give the schedule for so many training pairs."""
        share, least = self.batch_share
        batch_size = self.batch_size or min(256, max(least, training_pairs // share))
        return Schedule(
            self.epochs, batch_size, self.learning_rate, self.weight_decay, self.patience
        )


class NetworkScorer(ABC):
    """A method whose scores come from a network; see `proprl.models.base.PairScorer`.

    A method says what its network is (`build`), what is constant in training (`prepare`), how
    concepts are encoded (`encode`), how pairs of encoded concepts are scored (`logits`), and
    what a batch costs (`loss`). After training only the encoded concepts and the network are
    kept, so that scoring needs neither graph nor course.
    """

    settings_type: ClassVar[type[Settings]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    needs: ClassVar[frozenset[str]] = SUPERVISED
    takes_background: ClassVar[bool] = True
    views: ClassVar[tuple[str, ...]] = ()
    """The views of a course that the method can use."""
    weighs_branches: ClassVar[bool] = False
    """Whether the branches' weights are chosen on validation; else they count alike."""

    network: Any
    encoded: dict[str, Tensor]

    def __init__(self, settings: Any, *, device: str = "auto") -> None:
        self.settings = settings
        self.device = pick_device(device)
        self.report = FitReport()

    @abstractmethod
    def sizes(self, evidence: Evidence) -> dict[str, int]:
        """Give the sizes that the network depends on, beside the settings."""

    @abstractmethod
    def build(self, sizes: Mapping[str, int], views: tuple[str, ...]) -> nn.Module:
        """Give a new network."""

    @abstractmethod
    def prepare(self, evidence: Evidence, split: PairSplit) -> Any:
        """Give everything that is constant in training, as tensors on the device.

        `split.train` holds all training rows, background with label 0 among them: a graph of
        known prerequisites is made of its positives alone.
        """

    @abstractmethod
    def encode(self, network: Any, inputs: Any) -> dict[str, Tensor]:
        """Give what scoring needs of every concept: named tensors, a row for each concept."""

    @abstractmethod
    def logits(
        self, network: Any, encoded: Mapping[str, Tensor], pairs: Tensor
    ) -> dict[str, Tensor]:
        """Give the logits of every branch for m pairs, the main one last: each (m,)."""

    @abstractmethod
    def loss(
        self,
        network: Any,
        inputs: Any,
        pairs: Tensor,
        y: Tensor,
        class_weights: tuple[float, float],
    ) -> Tensor:
        """Give what a batch costs."""

    def before_epoch(self, network: Any, inputs: Any) -> None:  # noqa: B027 - may stay empty
        """Draw what changes from epoch to epoch, from torch's global generator; often nothing."""

    def fit(
        self,
        evidence: Evidence,
        split: PairSplit,
        *,
        background: IntArray | None = None,
        seed: int,
        progress: Progress = SILENT,
        checkpoint: Checkpoint | None = None,
    ) -> FitReport:
        """Train on the training rows; choose epoch, branch weights and threshold on validation."""
        class_weights = label_weights(split.train)
        split = replace(split, train=training_rows(split, background))
        inputs = self.prepare(evidence, split)
        views = tuple(view for view in self.views if view in evidence.views)
        self._sizes = self.sizes(evidence)
        with seeded(seed):
            network = self.build(self._sizes, views).to(self.device)

            def loss(pairs: Tensor, y: Tensor) -> Tensor:
                return self.loss(network, inputs, pairs, y, class_weights)

            def score(pairs: IntArray) -> FloatArray:
                # The branches' weights are chosen after training; until then they count alike.
                self._remember(network, inputs)
                p: FloatArray = self._branch_probabilities(pairs).mean(axis=1)
                return p

            history = train_network(
                network,
                loss,
                score,
                split,
                self.settings.schedule(len(split.train)),
                device=self.device,
                progress=progress,
                checkpoint=checkpoint,
                before_epoch=lambda: self.before_epoch(network, inputs),
            )
        self._remember(network, inputs)
        weights, threshold = self._choose(split)
        self.report = FitReport(
            views=views,
            missing_views=tuple(view for view in self.views if view not in views),
            class_weights=class_weights,
            threshold=threshold,
            branch_weights=weights,
            history=history,
        )
        return self.report

    def score(self, pairs: IntArray) -> FloatArray:
        """Give p_ij = Σ_a w_a σ(s^a_ij) for each pair: (m, 2) -> (m,)."""
        weights = np.array([self.report.branch_weights[branch] for branch in self.branches])
        p: FloatArray = self._branch_probabilities(pairs) @ weights
        return p.clip(0.0, 1.0)  # rounding may lift a sum of shares a hair above 1

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give each branch's probability."""
        p = self._branch_probabilities(pairs)
        return {branch: p[:, i] for i, branch in enumerate(self.branches)}

    def state(self) -> dict[str, FloatArray]:
        """Give the network's weights and the encoded concepts, so that no course is needed."""
        network = {f"network/{k}": v for k, v in self.network.state_dict().items()}
        encoded = {f"encoded/{k}": v for k, v in self.encoded.items()}
        state = {k: v.cpu().numpy() for k, v in {**network, **encoded}.items()}
        return state | {f"sizes/{k}": np.array([v]) for k, v in self._sizes.items()}

    @classmethod
    def restore(
        cls, settings: Any, state: Mapping[str, FloatArray], report: FitReport, *, device: str
    ) -> Self:
        """Give back the scorer that `state` was taken from."""
        scorer = cls(settings, device=device)
        scorer.report = report
        scorer._sizes = {k: int(v[0]) for k, v in state_part(state, "sizes/").items()}
        network = scorer.build(scorer._sizes, report.views)
        network.load_state_dict(
            {k: torch.from_numpy(v) for k, v in state_part(state, "network/").items()}
        )
        scorer.network = network.to(scorer.device).eval()
        encoded = state_part(state, "encoded/")
        scorer.encoded = {k: torch.from_numpy(v).to(scorer.device) for k, v in encoded.items()}
        return scorer

    @property
    def branches(self) -> list[str]:
        """The names of the branches, the main one last."""
        nothing = torch.empty((0, 2), dtype=torch.int64, device=self.device)
        with torch.inference_mode():
            return list(self.logits(self.network, self.encoded, nothing))

    def tensor(self, array: Any) -> Tensor:
        """Give an array as a tensor on the device; floating numbers in single precision."""
        tensor = torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
        return tensor.float() if tensor.is_floating_point() else tensor

    def _remember(self, network: nn.Module, inputs: Any) -> None:
        """Encode all concepts once in evaluation mode; scoring then needs no graph."""
        network.eval()
        with torch.inference_mode():
            self.network, self.encoded = network, self.encode(network, inputs)

    def _branch_probabilities(self, pairs: IntArray) -> FloatArray:
        """Give σ(s^a) of every branch: (m, branches), the main one last."""
        with torch.inference_mode():
            chunks = [
                torch.stack(list(self.logits(self.network, self.encoded, chunk).values()), dim=1)
                for chunk in torch.split(self.tensor(pairs), SCORED_AT_ONCE)
            ]
            p: FloatArray = torch.sigmoid(torch.cat(chunks)).double().cpu().numpy()
        return p

    def _choose(self, split: PairSplit) -> tuple[dict[str, float], float]:
        """Give the branch weights, and the threshold, that do best on the validation pairs."""
        branches, labels = self.branches, split.validation.labels
        fixed, equal = self.settings.threshold, np.full(len(branches), 1 / len(branches))
        if not enough_to_choose(labels):
            return dict(zip(branches, equal.tolist(), strict=True)), 0.5 if fixed is None else fixed
        p = self._branch_probabilities(split.validation.pairs)
        # A threshold still to be chosen must not decide: the weights are to rank well then.
        weights = simplex_weights(labels, p, threshold=fixed) if self.weighs_branches else equal
        threshold = best_threshold(labels, p @ weights) if fixed is None else fixed
        return dict(zip(branches, weights.tolist(), strict=True)), threshold
