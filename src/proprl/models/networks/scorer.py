"""What every method with a network shares: how it is trained, scored, kept and given back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.metrics import best_threshold, enough_to_choose, simplex_weights
from proprl.graphs.evidence import VIEWS, Evidence, mean_of_concepts
from proprl.graphs.matrices import standardise_columns
from proprl.models.base import (
    SCORED_AT_ONCE,
    FitReport,
    PairScorer,
    Presets,
    Settings,
    State,
    Task,
)
from proprl.models.needs import FEATURES, LABELS, check_inputs
from proprl.models.networks.layers import Channel, as_operator
from proprl.training.bundle import joined, part_of
from proprl.training.loop import Schedule, pick_device, seeded, train_network

Named: TypeAlias = Mapping[str, Tensor]
"""Encoded concepts by name, or the logits of each branch."""


def ours(*, paper: Mapping[str, Any] | None = None, **changes: Any) -> Presets:
    """Give a method's presets: "default" with our changes, "paper" as published.

    A setting's own default is the published value; `paper` holds what the release sets otherwise.
    Our threshold is chosen on validation.
    """
    return {"default": {"threshold": None, **changes}, "paper": paper or {}}


class NetworkSettings(Settings):
    """Settings that every network has."""

    epochs: int = Field(50, ge=1)
    batch_size: int | None = Field(16, ge=1)  # None: a share of the pairs, within bounds
    learning_rate: float = Field(1e-4, gt=0, le=10)
    weight_decay: float = Field(0.0, ge=0)
    patience: int | None = Field(None, ge=1)
    threshold: float | None = Field(0.5, ge=0, le=1)  # None: chosen on validation
    batch_share: ClassVar[tuple[int, int]] = (4, 32)  # a quarter of the pairs, from 32 to 256
    published: ClassVar[dict[str, Any]] = {}
    """How else the published optimiser steps; see `Schedule`."""

    def schedule(self, training_pairs: int) -> Schedule:
        """Give the schedule for so many training pairs."""
        share, least = self.batch_share
        steps = {
            "batch_size": self.batch_size or min(256, max(least, training_pairs // share)),
            **self.model_dump(include={"epochs", "learning_rate", "weight_decay", "patience"}),
        }
        return Schedule(**steps, **self.published)


class Batch(NamedTuple):
    """Ordered pairs, their labels, and what label 0 and label 1 weigh."""

    pairs: Tensor  # (b, 2)
    y: Tensor  # (b,)
    class_weights: tuple[float, float] = (1.0, 1.0)

    def cross_entropy(self, logits: Named) -> Tensor:
        """Give the weighted binary cross-entropy, averaged over pairs, summed over branches."""
        negative, positive = self.class_weights
        weight = torch.where(self.y > 0.5, positive, negative)  # (b,)
        each = [binary_cross_entropy_with_logits(s, self.y, weight=weight) for s in logits.values()]
        return torch.stack(each).sum()


class NetworkScorer(PairScorer):
    """A method whose scores come from a network.

    A method says what its network is (`network_type`) and what is constant in training
    (`prepare`). Where its network differs from the usual, it also says how concepts are encoded
    (`encode`), how pairs are scored (`logits`), and what a batch costs (`loss`). After training
    only the encoded concepts and the network are kept: scoring needs neither graph nor course.
    """

    network_type: ClassVar[type[nn.Module]]
    uses_if_there: ClassVar[tuple[str, ...]] = ()
    """The views of a course that the method can use, beside those that it needs."""
    weighs_branches: ClassVar[bool] = False
    """Whether the branches' weights are chosen on validation; else they count alike."""

    network: Any
    encoded: dict[str, Tensor]

    def __init__(self, settings: Any, *, device: str = "auto") -> None:
        super().__init__(settings)
        self.device = pick_device(device)

    @property
    def name(self) -> str:
        """The method's name, for messages: `DGCPLScorer` is dgcpl."""
        return type(self).__name__.removesuffix("Scorer").lower()

    def sizes(self, evidence: Evidence) -> dict[str, int]:
        """Give the sizes that the network depends on, beside the settings."""
        return {"in_size": evidence.features.shape[1]}

    def build(self, sizes: Mapping[str, int], views: tuple[str, ...]) -> nn.Module:  # noqa: ARG002
        """Give a new network for these sizes, and for the views that the course has."""
        return self.network_type(**sizes, **self.chosen)

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings that the network takes, by the same names."""
        taken = signature(self.network_type).parameters
        return {name: value for name, value in self.settings if name in taken}

    @abstractmethod
    def prepare(self, evidence: Evidence, split: PairSplit) -> Any:
        """Give everything that is constant in training, as tensors on the device.

        `split.train` holds all training rows, background with label 0 among them: a graph of
        known prerequisites is made of its positives alone.
        """

    def encode(self, network: Any, inputs: Any) -> dict[str, Tensor]:
        """Give what scoring needs of every concept: named tensors, a row for each concept."""
        return network.encode(*inputs)  # type: ignore[no-any-return]

    def logits(self, network: Any, encoded: Named, pairs: Tensor) -> dict[str, Tensor]:
        """Give the logits of every branch for m pairs, the main one last: each (m,)."""
        return network(encoded, pairs)  # type: ignore[no-any-return]

    def loss(self, network: Any, inputs: Any, batch: Batch) -> Tensor:
        """Give what a batch costs: binary cross-entropy, unless a method says otherwise."""
        encoded = self.encode(network, inputs)
        return batch.cross_entropy(self.logits(network, encoded, batch.pairs))

    def before_epoch(self, network: Any, inputs: Any) -> None:
        """Draw what changes from epoch to epoch, from torch's global generator; here nothing."""

    def check(self, evidence: Evidence) -> None:
        """Raise unless there is what the method needs."""
        present = {LABELS, FEATURES, *evidence.views}
        check_inputs(self.name, self.needs, present, "this evidence")

    def learn(self, task: Task) -> FitReport:
        """Train on the training rows; choose epoch, branch weights and threshold on validation."""
        self.check(task.evidence)
        views = (view for view in VIEWS if view in {*self.needs, *self.uses_if_there})
        report, split = task.report(tuple(views)), replace(task.split, train=task.rows)
        inputs = self.prepare(task.evidence, split)
        self._sizes = self.sizes(task.evidence)
        with seeded(task.seed):
            network = self.build(self._sizes, report.views).to(self.device)

            def loss(pairs: Tensor, y: Tensor) -> Tensor:
                return self.loss(network, inputs, Batch(pairs, y, task.class_weights))

            def score(pairs: IntArray) -> FloatArray:
                # The branches' weights are chosen after training; until then they count alike.
                self._remember(network, inputs)
                return np.asarray(self._branches(pairs)[1].mean(axis=1))

            history = train_network(
                network,
                loss,
                score,
                split,
                self.settings.schedule(len(split.train)),
                device=self.device,
                progress=task.progress,
                checkpoint=task.checkpoint,
                before_epoch=lambda: self.before_epoch(network, inputs),
            )
        self._remember(network, inputs)
        weights, threshold = self._choose(split.validation)
        return replace(report, threshold=threshold, branch_weights=weights, history=history)

    def score(self, pairs: IntArray) -> FloatArray:
        """Give p_ij = Σ_a w_a σ(s^a_ij) for each pair: (m, 2) -> (m,)."""
        branches, p_a = self._branches(pairs)
        p: FloatArray = p_a @ np.array([self.report.branch_weights[a] for a in branches])
        return p.clip(0.0, 1.0)  # rounding may lift a sum of shares a hair above 1

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give each branch's probability."""
        branches, p_a = self._branches(pairs)
        return dict(zip(branches, p_a.T, strict=True))

    def state(self) -> dict[str, FloatArray]:
        """Give the network's weights and the encoded concepts, so that no course is needed."""
        tensors = joined(network=self.network.state_dict(), encoded=self.encoded)
        sizes = {name: np.array([size]) for name, size in self._sizes.items()}
        return {k: v.cpu().numpy() for k, v in tensors.items()} | joined(sizes=sizes)

    def take_up(self, state: State) -> None:
        """Take up the network's weights and the encoded concepts."""
        self._sizes = {k: int(v[0]) for k, v in part_of(state, "sizes").items()}
        network, encoded = (
            {k: torch.from_numpy(v).to(self.device) for k, v in part_of(state, part).items()}
            for part in ("network", "encoded")
        )
        self.network, self.encoded = self.build(self._sizes, self.report.views), encoded
        self.network.load_state_dict(network)
        self.network.to(self.device).eval()

    def tensor(self, array: Any) -> Tensor:
        """Give an array as a tensor on the device; floating numbers in single precision."""
        tensor = torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
        return tensor.float() if tensor.is_floating_point() else tensor

    def features(self, evidence: Evidence) -> Tensor:
        """Give the concepts' features, standardised column by column."""
        return self.tensor(standardise_columns(evidence.features))

    def nodes(self, evidence: Evidence) -> Tensor:
        """Give the features of concepts, then of resources: each the mean of its concepts."""
        X = standardise_columns(evidence.features)
        return self.tensor(np.concatenate([X, mean_of_concepts(evidence.incidence, X)]))

    def channel(self, A: SparseMatrix, X: Tensor) -> Channel:
        """Give a graph with its product with the features."""
        operator = as_operator(A, self.device)
        return Channel(operator, operator @ X)

    def _remember(self, network: nn.Module, inputs: Any) -> None:
        """Encode all concepts once in evaluation mode; scoring then needs no graph."""
        network.eval()
        with torch.inference_mode():
            self.network, self.encoded = network, self.encode(network, inputs)

    def _branches(self, pairs: IntArray) -> tuple[list[str], FloatArray]:
        """Give the names of the branches, the main one last, and σ(s^a) of each: (m, branches)."""
        with torch.inference_mode():
            chunks = [
                self.logits(self.network, self.encoded, chunk)
                for chunk in torch.split(self.tensor(pairs), SCORED_AT_ONCE)
            ]
            s = torch.cat([torch.stack(list(chunk.values()), dim=1) for chunk in chunks])
            return list(chunks[0]), np.asarray(torch.sigmoid(s).double().cpu().numpy())

    def _choose(self, validation: LabelledPairs) -> tuple[dict[str, float], float]:
        """Give the branch weights and the threshold that do best on the validation pairs."""
        branches, p = self._branches(validation.pairs)
        labels, fixed = validation.labels, self.settings.threshold
        weights = np.full(len(branches), 1 / len(branches))
        threshold = 0.5 if fixed is None else fixed
        if enough_to_choose(labels):
            # Without a fixed threshold, weights are chosen by how well they rank.
            if self.weighs_branches:
                weights = simplex_weights(labels, p, threshold=fixed)
            threshold = best_threshold(labels, p @ weights) if fixed is None else fixed
        return dict(zip(branches, weights.tolist(), strict=True)), threshold
