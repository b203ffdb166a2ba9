"""GAE and VGAE: graph autoencoders on the known prerequisites (Kipf & Welling, 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import Evidence
from proprl.graphs.normalise import standardise_columns
from proprl.models.base import Settings
from proprl.models.rivals.autoencoder import (
    ConvolutionalEncoder,
    Decoder,
    Decoding,
    Posterior,
    Reconstruction,
    normalised_adjacency,
    refuse_beyond_limit,
    symmetrise,
)
from proprl.models.rivals.autoencoder_scorer import (
    AutoencoderScorer,
    AutoencoderSettings,
    training_adjacency,
)


class GraphAutoencoder(nn.Module):
    """A convolutional encoder over training positives, and a decoder of pairs."""

    def __init__(
        self,
        in_size: int,
        hidden: int = 32,
        size: int = 16,
        *,
        variational: bool,
        decoding: Decoding = "directed",
    ) -> None:
        super().__init__()
        self.encoder = ConvolutionalEncoder(in_size, hidden, size, variational=variational)
        self.decoder = Decoder(size, decoding)


class Inputs(NamedTuple):
    """The features, the graph of training positives, and what is to be reconstructed."""

    X: Tensor  # (n, d)
    A: Tensor  # (n, n): Â
    links: Reconstruction


class GAEScorer(AutoencoderScorer):
    """Graph autoencoder: concepts are encoded over the graph that they are to reconstruct.

    Messages pass over the symmetrised training positives. With the directed decoder the target
    is the directed matrix of training positives; with "inner", the symmetrised one with loops,
    as published, which cannot tell a pair from its reverse.

    The cells of validation and test pairs, in both orders, are masked out of the loss; other
    cells without a label count as zeros where `zeros` is "all": see `counted_cells`.
    """

    settings_type: ClassVar[type[Settings]] = AutoencoderSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {"threshold": None},
        "paper": {"decoder": "inner", "zeros": "all"},
    }
    variational: ClassVar[bool] = False

    def sizes(self, evidence: Evidence) -> dict[str, int]:
        """Give the number of features."""
        return {"in_size": evidence.features.shape[1]}

    def build(self, sizes: Mapping[str, int], views: tuple[str, ...]) -> GraphAutoencoder:  # noqa: ARG002
        """Give a new encoder and decoder."""
        s = self.settings
        return GraphAutoencoder(
            sizes["in_size"], s.hidden, s.size, variational=self.variational, decoding=s.decoder
        )

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:
        """Give the features, Â, and the matrix to reconstruct."""
        refuse_beyond_limit("a graph autoencoder", evidence.concept_count, "concepts")
        A = training_adjacency(split, evidence.concept_count)
        return Inputs(
            self.tensor(standardise_columns(evidence.features)),
            self.tensor(normalised_adjacency(symmetrise(A))),
            self.links(A, split),
        )

    def posterior(self, network: GraphAutoencoder, inputs: Inputs) -> Posterior:
        """Give the codes of all concepts."""
        posterior: Posterior = network.encoder(inputs.X, inputs.A)
        return posterior


class VGAEScorer(GAEScorer):
    """Variational graph autoencoder: GAE with a normal distribution for each concept's code."""

    variational: ClassVar[bool] = True
