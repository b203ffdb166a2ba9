"""GAE and VGAE: graph autoencoders on the known prerequisites (Kipf & Welling, 2016)."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from torch import Tensor, nn

from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import Evidence
from proprl.graphs.matrices import standardise_columns
from proprl.models.rivals.autoencoder import (
    AutoencoderScorer,
    ConvolutionalEncoder,
    Decoder,
    Decoding,
    Posterior,
    Reconstruction,
)


class GraphAutoencoder(nn.Module):
    """A convolutional encoder over training positives, and a decoder of pairs."""

    variational: ClassVar[bool] = False

    def __init__(self, in_size: int, hidden: int, size: int, decoder: Decoding) -> None:
        super().__init__()
        self.encoder = ConvolutionalEncoder(in_size, hidden, size, variational=self.variational)
        self.decoder = Decoder(size, decoder)

    def forward(self, X: Tensor, A: Tensor) -> Posterior:
        """Encode n concepts: (n, in_size) -> (n, size)."""
        return self.encoder(X, A)  # type: ignore[no-any-return]


class VariationalGraphAutoencoder(GraphAutoencoder):
    """The same, with a normal distribution for each concept's code."""

    variational: ClassVar[bool] = True


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

    network_type = GraphAutoencoder
    options = ("hidden", "size", "decoder")

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:
        """Give the features, Â, and the matrix to reconstruct."""
        A = self.adjacency(split, evidence.concept_count)
        X = self.tensor(standardise_columns(evidence.features))
        return Inputs(X, self.messages(A), self.links(A, split))


class VGAEScorer(GAEScorer):
    """Variational graph autoencoder: GAE whose codes are normal distributions."""

    network_type = VariationalGraphAutoencoder
