"""PREREQ: topics of linked resources, compared by a Siamese network (Roy et al., IAAI 2019)."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Literal, TypeAlias

import numpy as np
import torch
from pydantic import Field
from scipy.sparse import csr_array, diags_array
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.arrays import FloatArray, SparseMatrix
from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport, Task, share
from proprl.models.needs import LABELS, RESOURCE, refuse_beyond_limit
from proprl.models.networks.layers import ends
from proprl.models.networks.scorer import Batch, Named, NetworkScorer, NetworkSettings, ours
from proprl.models.rivals.prereq_topics import fit_link_lda
from proprl.training.loop import Schedule

Comparison: TypeAlias = Literal["signed", "absolute"]


class PrereqSettings(NetworkSettings):
    """Settings of PREREQ. The defaults are the paper's; the presets say where ours differ."""

    batch_size: int | None = Field(128, ge=1)
    steps: int | None = Field(3_500, ge=1)  # of training; None: `epochs` says how long
    topics: int = Field(100, ge=1)
    em_steps: int = Field(100, ge=1)
    em_sweeps: int = Field(20, ge=1)
    size: int = Field(512, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    # "absolute", as released, scores a pair and its reverse alike.
    comparison: Comparison = "signed"

    def schedule(self, training_pairs: int) -> Schedule:
        """Give as many epochs as the steps take, where they are given."""
        schedule = super().schedule(training_pairs)
        if self.steps is None:
            return schedule
        batches = ceil(training_pairs / schedule.batch_size)
        return replace(schedule, epochs=ceil(self.steps / batches))


class SiameseNetwork(nn.Module):
    """Both concepts of a pair through one network, then a linear score of how they differ.

    u = W₂ dropout(ReLU(BN(W₁ x))) scaled to length 1; s = wᵀ f(u_a, u_b) + b, where f is u_a - u_b,
    or |u_a - u_b| as released. The released softmax of two classes is this sigmoid of one.
    """

    def __init__(
        self, topics: int, size: int = 512, dropout: float = 0.1, comparison: Comparison = "signed"
    ) -> None:
        super().__init__()
        self.siamese = nn.Sequential(
            nn.Linear(topics, topics),
            nn.BatchNorm1d(topics),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(topics, size),
        )
        self.comparison = comparison
        self.w = nn.Linear(size, 1)

    def encode(self, X: Tensor) -> Tensor:
        """Encode concepts: (m, topics) -> (m, size), each row of length 1."""
        return F.normalize(self.siamese(X), dim=1)  # the released code scales along the batch

    def forward(self, u_a: Tensor, u_b: Tensor) -> Tensor:
        """Score m pairs of encoded concepts: (m, size) twice -> (m,)."""
        f = u_a - u_b if self.comparison == "signed" else (u_a - u_b).abs()
        return self.w(f).squeeze(1)  # type: ignore[no-any-return]


class PrereqScorer(NetworkScorer):
    """Concepts as topic vectors of linked resources, compared by a Siamese network.

    Texts are not read: a resource's words are the concepts it holds. A concept that no resource
    holds has a zero vector (the released code drops its pairs).
    """

    settings_type = PrereqSettings
    network_type = SiameseNetwork
    presets = ours(
        # Larger steps that stop early, and topics from fewer and shorter EM steps: on the public
        # sets' validation pairs as good, in a fraction of the time.
        steps=None,
        epochs=100,
        patience=20,
        learning_rate=1e-3,
        em_steps=30,
        em_sweeps=5,
        paper={"comparison": "absolute"},
    )
    needs = frozenset({LABELS, RESOURCE})

    def learn(self, task: Task) -> FitReport:
        """Find the topics, then train on the training rows; see `NetworkScorer.learn`."""
        self.check(task.evidence)
        M: SparseMatrix = task.evidence.incidence
        m, links = M.shape[1], task.evidence.resource_links
        refuse_beyond_limit(self.name, m, "resources")
        topics = fit_link_lda(
            M.T.tocsr(),
            following(m) if links is None else links,
            topics=self.settings.topics,
            steps=self.settings.em_steps,
            sweeps=self.settings.em_sweeps,
            rng=np.random.default_rng(task.seed),
        )
        self._X = concept_topics(topics.beta)
        facts = {
            "links between resources": "order of the resources" if links is None else "given",
            "EM steps with links": float(len(topics.bounds)),
            "concepts in no resource": float((M.sum(axis=1) == 0).sum()),
        }
        return replace(super().learn(task), facts=facts)

    def sizes(self, evidence: Evidence) -> dict[str, int]:  # noqa: ARG002
        """Give nothing: all sizes are settings."""
        return {}

    def prepare(self, evidence: Evidence, split: PairSplit) -> Tensor:  # noqa: ARG002
        """Give the topic vectors (n × K)."""
        return self.tensor(self._X)

    def encode(self, network: SiameseNetwork, inputs: Tensor) -> dict[str, Tensor]:
        """Give u of every concept."""
        return {"u": network.encode(inputs)}

    def logits(self, network: SiameseNetwork, encoded: Named, pairs: Tensor) -> dict[str, Tensor]:
        """Give the logits of the pairs."""
        return {"topics": network(*ends(encoded["u"], pairs))}

    def loss(self, network: SiameseNetwork, inputs: Tensor, batch: Batch) -> Tensor:
        """Binary cross-entropy; BatchNorm sees both sides of the batch at once."""
        u_a, u_b = network.encode(torch.cat(ends(inputs, batch.pairs))).chunk(2)
        return batch.cross_entropy({"topics": network(u_a, u_b)})


def following(m: int) -> SparseMatrix:
    """Link each resource to the next one, m × m: the order within a course."""
    return csr_array(diags_array(np.ones(max(0, m - 1)), offsets=1, shape=(m, m)))


def concept_topics(beta: FloatArray) -> FloatArray:
    """Give each concept's share in every topic, scaled so that the largest is 1: n × K.

    The released code computes the scaled vector, then goes on with the unscaled one.
    """
    return share(beta, beta.max(axis=0, keepdims=True)).T
