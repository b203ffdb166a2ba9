"""R-VGAE: a variational autoencoder over concepts and resources (Li et al., 2020)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from scipy.linalg import block_diag
from scipy.sparse import csr_array
from torch import Tensor, nn

from proprl.arrays import FloatArray
from proprl.data.splits.parts import PairSplit
from proprl.graphs.affinity import similar_rows
from proprl.graphs.evidence import Evidence, resource_vectors
from proprl.graphs.matrices import standardise_columns
from proprl.models.needs import RESOURCE, SUPERVISED, refuse_beyond_limit
from proprl.models.networks.scorer import Batch, ours
from proprl.models.rivals.gae import (
    AutoencoderScorer,
    AutoencoderSettings,
    Decoder,
    Decoding,
    GraphConvolution,
    Posterior,
    Reconstruction,
)

ALIKE = 0.5
"""Resources are linked from this cosine on."""


class RVGAESettings(AutoencoderSettings):
    """Settings of R-VGAE."""

    # The released code never applies its activation, which leaves the encoder linear.
    linear: bool = False


class RelationalConvolution(nn.Module):
    """The mean of one convolution for each graph, each with a W of its own: (1/g) Σ_r Â_r X W_r."""

    def __init__(self, in_size: int, size: int, graphs: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(GraphConvolution(in_size, size) for _ in range(graphs))

    def forward(self, X: Tensor, graphs: tuple[Tensor, ...]) -> Tensor:
        """Pass messages between s nodes: (s, in_size) -> (s, size)."""
        heard = [layer(X, A) for layer, A in zip(self.convolutions, graphs, strict=True)]
        return torch.stack(heard).mean(dim=0)


class RelationalAutoencoder(nn.Module):
    """H = φ(layer(X)), μ = layer(H), log σ = layer(H), over graphs of concepts and resources."""

    def __init__(
        self,
        in_size: int,
        hidden: int = 32,
        size: int = 16,
        *,
        graphs: int = 3,
        linear: bool = False,
        decoder: Decoding = "directed",
    ) -> None:
        super().__init__()
        self.W_0 = RelationalConvolution(in_size, hidden, graphs)
        self.W_mu = RelationalConvolution(hidden, size, graphs)
        self.W_sigma = RelationalConvolution(hidden, size, graphs)
        self.linear = linear
        self.decoder = Decoder(size, decoder)

    def forward(self, X: Tensor, graphs: tuple[Tensor, ...]) -> Posterior:
        """Encode s nodes: (s, in_size) -> (s, size)."""
        H = self.W_0(X, graphs)  # (s, hidden)
        H = H if self.linear else torch.relu(H)
        return Posterior(self.W_mu(H, graphs), self.W_sigma(H, graphs))


class Inputs(NamedTuple):
    """The nodes, concepts first; their graphs; and what is to be reconstructed."""

    X: Tensor  # (s, d)
    graphs: tuple[Tensor, ...]  # each (s, s): union, concept-resource, resource-resource
    concepts: int
    contained: Reconstruction | None  # (n, m)
    alike: Reconstruction | None  # (m, m)
    links: Reconstruction | None  # (n, n); None: nothing is learned from labels


class RVGAEScorer(AutoencoderScorer):
    """Relational variational autoencoder: concepts and resources reconstruct how they relate.

    Two relations need no labels: which resource contains which concept, and which resources are
    alike. Each is reconstructed by inner products, on its own block of the matrix. Messages pass
    over these relations alone.

    With the directed decoder the training positives are a third relation, decoded by a full
    matrix R (the paper's DistMult has a diagonal one, which cannot tell the direction), with
    validation and test cells masked out: see `counted_cells`. With "inner", as released, labels
    only choose the epoch, background counts for nothing, and a pair and its reverse score alike.
    """

    settings_type = RVGAESettings
    network_type = RelationalAutoencoder
    # As released, where the threshold is a z-score of 0.6 over the test set: ours is 0.5.
    presets = ours(paper={"decoder": "inner", "zeros": "all", "linear": True, "epochs": 100})
    needs = SUPERVISED | {RESOURCE}

    def sizes(self, evidence: Evidence) -> dict[str, int]:
        """Give the number of features of a node."""
        return {"in_size": _nodes(evidence).shape[1]}

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:
        """Give the nodes, their graphs, and the relations to reconstruct."""
        resources = standardise_columns(resource_vectors(evidence))
        n, m = evidence.concept_count, len(resources)
        refuse_beyond_limit(self.name, n + m, "concepts and resources")
        M = csr_array(evidence.incidence).toarray()  # it is there: see `needs`
        S = (similar_rows(resources, ALIKE).toarray() > 0).astype(float)
        contained = np.block([[np.zeros((n, n)), M], [M.T, np.zeros((m, m))]])
        alike = block_diag(np.zeros((n, n)), S)
        graphs = (contained + alike, contained, alike)
        supervised = self.settings.decoder == "directed"
        return Inputs(
            self.tensor(_nodes(evidence)),
            tuple(self.messages(graph) for graph in graphs),
            n,
            _relation(self.tensor(M)),
            _relation(self.tensor(S), loops=True),
            self.links(self.adjacency(split, n), split) if supervised else None,
        )

    def encode(self, network: RelationalAutoencoder, inputs: Inputs) -> dict[str, Tensor]:
        """Give the mean of each concept's code."""
        return {"Z": network(inputs.X, inputs.graphs).mu[: inputs.concepts].clone()}

    def loss(self, network: RelationalAutoencoder, inputs: Inputs, batch: Batch) -> Tensor:  # noqa: ARG002
        """L = Σ_relations norm · BCE + KL."""
        posterior: Posterior = network(inputs.X, inputs.graphs)
        Z = posterior.sample()
        concepts, resources = Z[: inputs.concepts], Z[inputs.concepts :]
        loss = posterior.divergence()
        for relation, logits in (
            (inputs.contained, concepts @ resources.T),
            (inputs.alike, resources @ resources.T),
            (inputs.links, network.decoder.matrix(concepts)),
        ):
            loss = loss if relation is None else loss + relation.loss(logits)
        return loss


def _nodes(evidence: Evidence) -> FloatArray:
    """Concepts above resources; vectors of different widths stand side by side."""
    X = standardise_columns(evidence.features)
    Y = standardise_columns(resource_vectors(evidence))
    return np.vstack([X, Y]) if X.shape[1] == Y.shape[1] else np.asarray(block_diag(X, Y))


def _relation(A: Tensor, *, loops: bool = False) -> Reconstruction | None:
    """Give the reconstruction of A; None where all cells are alike and nothing can be learned."""
    return Reconstruction.of(A, loops=loops) if 0 < A.sum() < A.numel() else None
