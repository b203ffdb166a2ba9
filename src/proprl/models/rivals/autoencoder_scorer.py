"""What every graph autoencoder does as a method: which labels it reconstructs, and how."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field
from torch import Tensor

from proprl.arrays import FloatArray
from proprl.data.splits.parts import PairSplit
from proprl.errors import SplitError
from proprl.models.networks.layers import ends
from proprl.models.networks.scorer import NetworkScorer, NetworkSettings
from proprl.models.rivals.autoencoder import (
    Decoding,
    Posterior,
    Reconstruction,
    adjacency,
    symmetrise,
)
from proprl.training.loop import Schedule

Zeros: TypeAlias = Literal["labelled", "all"]
"""What counts as no link: the training pairs with label 0, or every pair but the held-out ones."""


class AutoencoderSettings(NetworkSettings):
    """Settings that every graph autoencoder has; sizes, rate and epochs are Kipf & Welling's."""

    epochs: int = Field(200, ge=1)
    batch_size: None = None  # each step reconstructs the whole matrix
    learning_rate: float = Field(0.01, gt=0)
    hidden: int = Field(32, ge=1)
    size: int = Field(16, ge=1)
    decoder: Decoding = "directed"
    # "all" (published) takes every pair without a label for a negative. That wastes the labelled
    # ones: on the public sets it cost GAE 3 and VGAE 7 points of validation AUC.
    zeros: Zeros = "labelled"

    def schedule(self, training_pairs: int) -> Schedule:
        """Give one full step for each epoch."""
        return Schedule(
            self.epochs, training_pairs, self.learning_rate, self.weight_decay, self.patience
        )


class AutoencoderScorer(NetworkScorer):
    """A method that encodes concepts over a graph and decodes links between them.

    Its inputs have `links`, the reconstruction of the training positives; its network has a
    `decoder`.
    """

    @abstractmethod
    def posterior(self, network: Any, inputs: Any) -> Posterior:
        """Give the codes of all concepts."""

    def encode(self, network: Any, inputs: Any) -> dict[str, Tensor]:
        """Give the mean of each concept's code."""
        return {"Z": self.posterior(network, inputs).mu}

    def logits(
        self, network: Any, encoded: Mapping[str, Tensor], pairs: Tensor
    ) -> dict[str, Tensor]:
        """Give z_aᵀ R z_b, or z_aᵀ z_b."""
        return {"link": network.decoder(*ends(encoded["Z"], pairs))}

    def loss(
        self,
        network: Any,
        inputs: Any,
        pairs: Tensor,  # noqa: ARG002 - every step reconstructs the whole matrix
        y: Tensor,  # noqa: ARG002
        class_weights: tuple[float, float],  # noqa: ARG002 - pos_weight balances the classes
    ) -> Tensor:
        """L = norm · BCE(Z R Zᵀ, A) + KL."""
        posterior = self.posterior(network, inputs)
        loss: Tensor = inputs.links.loss(network.decoder.matrix(posterior.sample()))
        return loss + posterior.divergence()

    def links(self, A: FloatArray, split: PairSplit) -> Reconstruction:
        """Give what is to be reconstructed of the training positives A.

        A itself, or A ∪ Aᵀ + I where the decoder is "inner". Validation and test cells never
        count; see `counted_cells`.
        """
        inner = self.settings.decoder == "inner"
        target = symmetrise(A) if inner else A
        counted = counted_cells(target, split, self.settings.zeros)
        if not (counted > target).any():
            raise SplitError(
                "no training pair has label 0, so everything would be a prerequisite: label some, "
                'give background, or set zeros="all" to take pairs without a label for negatives'
            )
        return Reconstruction.of(self.tensor(target), self.tensor(counted), loops=inner)


def training_adjacency(split: PairSplit, n: int) -> FloatArray:
    """Return the directed 0/1 matrix of the training positives; an error where there is none."""
    if not len(split.train.positives):
        raise SplitError(
            "no training pair has label 1: an autoencoder learns from known prerequisites; "
            "label some, or choose a split that leaves some in train"
        )
    return adjacency(split.train.positives, n)


def counted_cells(A: FloatArray, split: PairSplit, zeros: Zeros) -> FloatArray:
    """Return which cells of a label matrix count in training: n × n, 1 or 0.

    The links in A and all training rows do, background among them. With "all" so does every
    other cell, as a zero, except those of validation and test pairs: they are masked out in both
    orders, for else held-out prerequisites were trained as zeros. Only which pairs are held out is
    looked at, never their labels. A cell that is a training row counts whatever other part holds
    it too (the published splits overlap).
    """
    counted = np.zeros_like(A)
    if zeros == "all":
        held_out = np.concatenate([split.validation.pairs, split.test.pairs])
        counted = 1.0 - symmetrise(adjacency(held_out, len(A)))
    counted[A > 0] = 1.0
    counted[split.train.pairs[:, 0], split.train.pairs[:, 1]] = 1.0
    return counted
