"""Graph attention over a list of edges."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.models.networks.layers import DENSE_UP_TO


def edge_softmax(scores: Tensor, targets: Tensor, n: int) -> Tensor:
    """Turn the scores of edges into shares that sum to 1 over each target's edges.

    Scores are (e, heads), targets (e,) are rows below n. A target's largest score is taken off
    first, so that exp cannot overflow.
    """
    where = targets[:, None].expand_as(scores)
    top = scores.new_full((n, scores.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, where, scores.detach(), "amax")
    share = (scores - top.index_select(0, targets)).exp()
    total = share.new_zeros(n, scores.shape[1]).index_add(0, targets, share)
    return share / total.index_select(0, targets)


def weighted_sum(alpha: Tensor, WH: Tensor, edges: Tensor) -> Tensor:
    """Add up each target's sources by their shares: (e, heads), (n, heads, size) -> like WH."""
    sources, targets = edges
    n, heads, size = WH.shape
    if n > DENSE_UP_TO or len(sources) * size < n * n:
        messages = alpha[:, :, None] * WH.index_select(0, sources)  # (e, heads, size)
        return torch.zeros_like(WH).index_add(0, targets, messages)
    # One message for each of many edges moves more memory than a dense product with the graph.
    head = torch.arange(heads, device=WH.device)[:, None]
    A = alpha.new_zeros(heads, n, n).index_put((head, targets, sources), alpha.T, accumulate=True)
    return (A @ WH.transpose(0, 1)).transpose(0, 1)


class GraphAttention(nn.Module):
    r"""A node hears the sources of its edges, each by its share (Veličković et al., ICLR 2018).

    .. math:: h'_i = \Big\Vert_h \sum_{j \to i} \alpha^h_{ij} W^h h_j + b, \quad
              \alpha^h_{ij} = \mathrm{softmax}_{j \to i}\, \mathrm{LeakyReLU}
              (a^h \cdot W^h h_j + c^h \cdot W^h h_i + v^h w_{ij})

    The last term is there for `weighted` edges only. A node without incoming edges hears nothing
    and gets b. There are no self-loops but those among the edges.
    """

    def __init__(
        self,
        in_size: int,
        size: int,
        heads: int = 1,
        *,
        weighted: bool = False,
        negative_slope: float = 0.2,
    ) -> None:
        super().__init__()
        self.heads, self.negative_slope = heads, negative_slope
        self.W = nn.Linear(in_size, heads * size, bias=False)
        self.a = nn.Parameter(torch.empty(heads, size))
        self.c = nn.Parameter(torch.empty(heads, size))
        self.v = nn.Parameter(torch.empty(1, heads)) if weighted else None
        self.b = nn.Parameter(torch.zeros(heads * size))
        for weight in (self.W.weight, self.a, self.c, self.v):
            if weight is not None:
                nn.init.xavier_uniform_(weight)

    def forward(self, H: Tensor, edges: Tensor, weights: Tensor | None = None) -> Tensor:
        """Give (n, heads·size) for n nodes (n, in_size) and edges (2, e): sources, targets."""
        n, (sources, targets) = len(H), edges
        WH = self.W(H).view(n, self.heads, -1)  # (n, heads, size)
        from_source, at_target = (WH * self.a).sum(dim=-1), (WH * self.c).sum(dim=-1)
        scores = from_source.index_select(0, sources) + at_target.index_select(0, targets)
        if self.v is not None and weights is not None:
            scores = scores + weights[:, None] * self.v
        alpha = edge_softmax(F.leaky_relu(scores, self.negative_slope), targets, n)  # (e, heads)
        return weighted_sum(alpha, WH, edges).reshape(n, -1) + self.b
