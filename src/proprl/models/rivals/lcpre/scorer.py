"""LCPRE (CIKM 2024): concepts compared by the typed paths that leave them.

Departures from the released code: padding does not leak into attention (a concept without paths
has a zero vector); at test, schemas are weighed by all training concepts, not by the batch; a
pair's own edge is taken out of the paths that score it; links between resources and prerequisites
point the same way. The paper does not say whether all schemas and roles share the attention along
paths: here they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from pydantic import Field, StringConstraints
from scipy.sparse import coo_array
from torch import Tensor

from proprl.arrays import SparseMatrix
from proprl.data.splits.parts import PairSplit
from proprl.errors import MissingInputError
from proprl.graphs.evidence import Evidence, resource_vectors
from proprl.graphs.matrices import standardise_columns
from proprl.models.base import Presets, Settings
from proprl.models.needs import RESOURCE, SUPERVISED
from proprl.models.networks.layers import ends
from proprl.models.networks.scorer import Batch, Named, NetworkScorer, NetworkSettings
from proprl.models.rivals.lcpre.network import LCPRENetwork, RoleEncoder
from proprl.models.rivals.lcpre.paths import Neighbours, Paths, sample_paths

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

    settings_type: ClassVar[type[Settings]] = LCPRESettings
    options = ("size", "dropout")
    presets: ClassVar[Presets] = {
        "default": {
            # An epoch draws new paths, so a few at a time are enough: on the public sets'
            # validation pairs 8 did as well as 16. Fewer and larger steps save most of the time.
            "paths": 8,
            "batch_size": None,
            "learning_rate": 2e-3,
            "epochs": 30,
            "patience": 10,
            "threshold": None,
        },
        "paper": {},
    }
    needs = SUPERVISED | {RESOURCE}
    views = (RESOURCE,)

    def sizes(self, evidence: Evidence) -> dict[str, int]:
        """Give the numbers of features, and whether resources are linked."""
        resource_size = resource_vectors(evidence).shape[1]
        linked = int(evidence.resource_links is not None)
        return {**super().sizes(evidence), "resource_size": resource_size, "linked": linked}

    def build(self, sizes: Mapping[str, int], views: tuple[str, ...]) -> LCPRENetwork:  # noqa: ARG002
        """Give a new network for the schemas that the course has edges for."""
        schemas = self._schemas(bool(sizes["linked"]))
        return LCPRENetwork(sizes["in_size"], sizes["resource_size"], schemas, **self.chosen)

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
            self.tensor(standardise_columns(evidence.features)),
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
        a, _ = ends(encoded[ROLES[0]], pairs)
        _, b = ends(encoded[ROLES[1]], pairs)
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
