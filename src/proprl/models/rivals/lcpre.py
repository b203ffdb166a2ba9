"""LCPRE (CIKM 2024): concepts compared by the typed paths that leave them.

Departures from the released code: padding does not leak into attention (a concept without paths
has a zero vector); at test, schemas are weighed by all training concepts, not by the batch; a
pair's own edge is taken out of the paths that score it; links between resources and prerequisites
point the same way. The paper does not say whether all schemas and roles share the attention along
paths: here they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import torch
from pydantic import Field, StringConstraints
from scipy.sparse import coo_array
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.arrays import SparseMatrix
from proprl.data.splits.parts import PairSplit
from proprl.errors import MissingInputError
from proprl.graphs.evidence import Evidence, resource_vectors
from proprl.graphs.matrices import standardise_columns
from proprl.models.needs import RESOURCE, SUPERVISED
from proprl.models.networks.layers import edge_softmax, ends
from proprl.models.networks.scorer import Batch, Named, NetworkScorer, NetworkSettings, ours
from proprl.models.rivals.lcpre_paths import Neighbours, Paths, sample_paths

ROLES = ("prerequisite", "dependent")
# Concepts whose paths are encoded at once, for scoring: bounds the memory.
_ENCODED_AT_ONCE = 1_024


class LCPRESettings(NetworkSettings):
    """Settings of LCPRE. The defaults are the paper's for MOOC; presets say where ours differ."""

    schemas: tuple[Annotated[str, StringConstraints(pattern="^C[CR]*C$")], ...] = Field(
        ("CC", "CRC", "CRRC", "CCRCC", "CRCRC"), min_length=1
    )
    paths: int = Field(128, ge=1)  # from a concept, of each schema
    size: int = Field(128, ge=4, multiple_of=4)
    dropout: float = Field(0.5, ge=0, lt=1)
    batch_size: int | None = Field(64, ge=1)
    learning_rate: float = Field(5e-4, gt=0)
    weight_decay: float = Field(1e-3, ge=0)

    published: ClassVar[dict[str, Any]] = {"decoupled_decay": True, "halve_at": (0.64, 0.87)}


class PathAttention(nn.Module):
    """Self-attention along a path, for its first and its last node alone.

    softmax(Q Kᵀ / √(size / heads)) V W_o over the nodes x + p of a path, p a learned vector for
    each position. Q, K and V are linear, so nodes are projected once for all their paths, and
    positions once for all nodes.
    """

    def __init__(self, size: int = 128, heads: int = 4, longest: int = 5) -> None:
        super().__init__()
        self.heads = heads
        self.p = nn.Parameter(0.02 * torch.randn(longest, size))
        self.Q, self.K, self.V = (nn.Linear(size, size) for _ in range(3))
        self.W_o = nn.Linear(size, size)

    def forward(self, X: Tensor, paths: Tensor) -> tuple[Tensor, Tensor]:
        """Encode p paths (p, length) of nodes (nodes, size): (p, size) for either end."""
        length = paths.shape[1]
        first_and_last = [0, length - 1]
        Q = self._along(self.Q, X, paths[:, first_and_last], self.p[first_and_last])
        K, V = (self._along(W, X, paths, self.p[:length]) for W in (self.K, self.V))
        # Sums of products: far faster than batches of products of 2 × 5 matrices.
        scores = (Q[:, :, None] * K[:, None]).sum(dim=-1)  # (p, 2, length, heads)
        scores = scores / Q.shape[-1] ** 0.5
        alpha = scores.softmax(dim=2)
        heard = (alpha[..., None] * V[:, None]).sum(dim=2)  # (p, 2, heads, d)
        s, t = self.W_o(heard.flatten(2)).unbind(dim=1)
        return s, t

    def _along(self, W: nn.Linear, X: Tensor, paths: Tensor, p: Tensor) -> Tensor:
        """W (x + p) for each node of each path: (p, length, heads, size / heads)."""
        projected = F.embedding(paths, W(X)) + F.linear(p, W.weight)
        return projected.view(*paths.shape, self.heads, X.shape[1] // self.heads)


class RoleEncoder(nn.Module):
    """A concept in one role (prerequisite, or dependent), from its paths of every schema.

    Over the paths of schema i: α^h = softmax LeakyReLU(w_i^h · s + v_i^h · t^h), and
    o_i = ReLU(‖_h Σ α^h t^h); 0 for a concept without a path. Over schemas: a = softmax of
    q · mean ReLU(W_i o_i), and h = W Σ_i a_i o_i.
    """

    def __init__(self, schemas: int, size: int = 128, heads: int = 4, out_size: int = 64) -> None:
        super().__init__()
        self.heads = heads
        self.w = nn.ParameterList(nn.Parameter(torch.empty(heads, size)) for _ in range(schemas))
        self.v = nn.ParameterList(
            nn.Parameter(torch.empty(heads, size // heads)) for _ in range(schemas)
        )
        for weight in (*self.w, *self.v):
            nn.init.xavier_uniform_(weight)
        self.W_schema = nn.ModuleList(nn.Linear(size, out_size) for _ in range(schemas))
        self.q = nn.Linear(out_size, 1, bias=False)
        self.W = nn.Linear(size, out_size)

    def summarise(self, encoded: Sequence[Encoded], concepts: Tensor, n: int) -> Tensor:
        """What the paths of some of n concepts come to, by schema: o, (schemas, c, size)."""
        row = torch.full((n,), -1, device=concepts.device)
        row[concepts] = torch.arange(len(concepts), device=concepts.device)
        parts = []
        for (owner, s, t), w, v in zip(encoded, self.w, self.v, strict=True):
            own = torch.nonzero(row[owner] >= 0).squeeze(1)
            rows, s, t_h = row[owner[own]], s[own], t[own].view(len(own), *v.shape)
            g = F.leaky_relu(F.linear(s, w) + (t_h * v).sum(dim=-1))
            alpha = edge_softmax(g, rows, len(concepts))  # (p, heads)
            nothing = t_h.new_zeros(len(concepts), *t_h.shape[1:])
            o = nothing.index_add(0, rows, alpha[:, :, None] * t_h)  # (c, heads, d)
            parts.append(torch.relu(o).flatten(1))
        return torch.stack(parts)

    def schema_weights(self, O: Tensor) -> Tensor:
        """How much each schema counts, judged over the given concepts: (schemas, c, size) -> a."""
        heard = [torch.relu(W(o)).mean(dim=0) for W, o in zip(self.W_schema, O, strict=True)]
        return self.q(torch.stack(heard)).squeeze(1).softmax(dim=0)  # type: ignore[no-any-return]

    def forward(self, O: Tensor, a: Tensor) -> Tensor:
        """h of c concepts: (schemas, c, size), (schemas,) -> (c, out_size)."""
        return self.W(torch.einsum("i,ics->cs", a, O))  # type: ignore[no-any-return]


class Encoded(NamedTuple):
    """The paths of one schema, encoded."""

    owner: Tensor  # (p,): the concept that a path starts from
    s: Tensor  # (p, size): its first node
    t: Tensor  # (p, size): its last node


class LCPRENetwork(nn.Module):
    """Nodes of two kinds, one attention along paths, and an encoder for each role."""

    def __init__(
        self, in_size: int, resource_size: int, schemas: Sequence[str], *, size: int, dropout: float
    ) -> None:
        super().__init__()
        self.concept, self.resource = nn.Linear(in_size, size), nn.Linear(resource_size, size)
        self.dropout = nn.Dropout(dropout)
        self.path = PathAttention(size, longest=max(len(schema) for schema in schemas))
        self.before, self.after = (
            RoleEncoder(len(schemas), size, out_size=size // 2) for _ in range(2)
        )

    def nodes(self, X: Tensor, X_r: Tensor) -> Tensor:
        """Project n concepts, then m resources: (n + m, size)."""
        return torch.cat([self.concept(self.dropout(X)), self.resource(self.dropout(X_r))])

    def encode(self, H: Tensor, paths: Sequence[Paths]) -> list[Encoded]:
        """Encode the paths of every schema through nodes (n + m, size)."""
        return [Encoded(p.owner, *self.path(H, p.nodes)) for p in paths]


@dataclass
class Inputs:
    """The nodes, their edges, and paths: drawn anew each epoch to train, fixed to score."""

    X: Tensor  # (n, d)
    X_r: Tensor  # (m, d')
    graph: dict[str, Neighbours]
    known: Tensor  # (edges,): source · n + target of each training positive, in order
    training: tuple[Tensor, Tensor]  # the concepts in each role of a training pair
    fixed: list[Paths]  # one for each schema
    current: list[Paths]


class LCPREScorer(NetworkScorer):
    """p = σ(h_a · h_b): what a leads to as a prerequisite, and b as a dependent."""

    settings_type = LCPRESettings
    network_type = LCPRENetwork
    # An epoch draws new paths, so a few at a time are enough: on the public sets' validation pairs
    # 8 did as well as 16. Fewer and larger steps save most of the time.
    presets = ours(paths=8, batch_size=None, learning_rate=2e-3, epochs=30, patience=10)
    needs = SUPERVISED | {RESOURCE}

    def sizes(self, evidence: Evidence) -> dict[str, int]:
        """Give the numbers of features, and whether resources are linked."""
        resource_size = resource_vectors(evidence).shape[1]
        linked = int(evidence.resource_links is not None)
        return {**super().sizes(evidence), "resource_size": resource_size, "linked": linked}

    def build(self, sizes: Mapping[str, int], views: tuple[str, ...]) -> LCPRENetwork:  # noqa: ARG002
        """Give a new network for the schemas that the course has edges for."""
        widths = {name: sizes[name] for name in ("in_size", "resource_size")}
        schemas = self._schemas(bool(sizes["linked"]))
        return LCPRENetwork(**{**self.chosen, **widths, "schemas": schemas})

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:
        """Give nodes and edges; the paths for scoring are drawn once, from a seed of their own."""
        M: SparseMatrix = evidence.incidence
        n = evidence.concept_count
        known = np.unique(split.train.positives @ np.array([n, 1]))
        CC = coo_array((np.ones(len(known)), np.divmod(known, n)), shape=(n, n))
        matrices = {"CC": CC, "CR": M, "RC": M.T, "RR": evidence.resource_links}
        graph = {
            step: Neighbours.of(matrix, self.device)
            for step, matrix in matrices.items()
            if matrix is not None
        }
        sources, targets = (self.tensor(np.unique(side)) for side in split.train.pairs.T)
        # Not torch's global generator: a resumed run must score with the same paths.
        fixed = self._draw(graph, n, torch.Generator().manual_seed(0))
        return Inputs(
            self.features(evidence),
            self.tensor(standardise_columns(resource_vectors(evidence))),
            graph,
            self.tensor(known),
            (sources, targets),
            fixed,
            fixed,
        )

    def before_epoch(self, network: LCPRENetwork, inputs: Inputs) -> None:  # noqa: ARG002
        """Draw new paths to train on."""
        inputs.current = self._draw(inputs.graph, len(inputs.X), None)

    def encode(self, network: LCPRENetwork, inputs: Inputs) -> dict[str, Tensor]:
        """Give h of every concept in each role."""
        n, H = len(inputs.X), network.nodes(inputs.X, inputs.X_r)
        O: dict[str, list[Tensor]] = {role: [] for role in ROLES}
        for chunk in torch.split(torch.arange(n, device=self.device), _ENCODED_AT_ONCE):
            paths = network.encode(H, [leaving(p, chunk) for p in inputs.fixed])
            for role, encoder in roles(network):
                O[role].append(encoder.summarise(paths, chunk, n))
        encoded = {}
        for (role, encoder), training in zip(roles(network), inputs.training, strict=True):
            o = torch.cat(O[role], dim=1)  # (schemas, n, size)
            encoded[role] = encoder(o, encoder.schema_weights(o[:, training]))
        return encoded

    def logits(self, network: Any, encoded: Named, pairs: Tensor) -> dict[str, Tensor]:  # noqa: ARG002
        """Give h_a · h_b."""
        (a, _), (_, b) = (ends(encoded[role], pairs) for role in ROLES)
        return {"paths": (a * b).sum(dim=1)}

    def loss(self, network: LCPRENetwork, inputs: Inputs, batch: Batch) -> Tensor:
        """Binary cross-entropy; no path of the batch takes an edge that the batch asks for."""
        pairs, H = batch.pairs, network.nodes(inputs.X, inputs.X_r)
        asked = torch.isin(inputs.known, pairs[:, 0] * len(inputs.X) + pairs[:, 1])
        free = [without(leaving(p, pairs), asked) for p in inputs.current]
        paths = network.encode(H, free)
        h = []
        for (_, encoder), side in zip(roles(network), pairs.T, strict=True):
            concepts, place = torch.unique(side, return_inverse=True)
            o = encoder.summarise(paths, concepts, len(inputs.X))
            h.append(encoder(o, encoder.schema_weights(o)).index_select(0, place))
        return batch.cross_entropy({"paths": (h[0] * h[1]).sum(dim=1)})

    def _draw(
        self, graph: Mapping[str, Neighbours], n: int, generator: torch.Generator | None
    ) -> list[Paths]:
        schemas = self._schemas("RR" in graph)
        return [sample_paths(graph, s, n, self.settings.paths, generator) for s in schemas]

    def _schemas(self, linked: bool) -> tuple[str, ...]:
        """Give the schemas that the course has edges for; an error where there are none."""
        schemas = tuple(s for s in self.settings.schemas if linked or "RR" not in s)
        if not schemas:
            raise MissingInputError(
                "every schema of lcpre steps from resource to resource, but no links between "
                "resources are known: add resource_links.csv or choose other schemas"
            )
        return schemas


def without(paths: Paths, asked: Tensor) -> Paths:
    """Leave out the paths that take one of the edges asked for: `asked` (edges,) is true."""
    lookup = torch.cat([asked, asked.new_zeros(1)])  # edge -1, which is none, stands last
    return paths.take(~lookup[paths.edges].any(dim=1))


def leaving(paths: Paths, concepts: Tensor) -> Paths:
    """Keep the paths that start from one of these concepts."""
    return paths.take(torch.isin(paths.owner, concepts))


def roles(network: LCPRENetwork) -> tuple[tuple[str, RoleEncoder], ...]:
    """Each role with its encoder."""
    return tuple(zip(ROLES, (network.before, network.after), strict=True))
