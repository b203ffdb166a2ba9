"""The three losses of ProPRL, computed from logits; letters are the paper's."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - everybody calls it F


def classification_loss(
    logits: Mapping[str, Tensor], y: Tensor, class_weights: tuple[float, float] = (1.0, 1.0)
) -> Tensor:
    """Binary cross-entropy, averaged over the batch and summed over the branches.

    `class_weights` are the weights of label 0 and of label 1.
    """
    negative, positive = class_weights
    weight = torch.where(y > 0.5, positive, negative)  # (b,)
    losses = [F.binary_cross_entropy_with_logits(s, y, weight=weight) for s in logits.values()]
    return torch.stack(losses).sum()


def consistency_loss(views: Mapping[str, Tensor], s_p: Tensor, t: float) -> Tensor:
    """How far each view's prediction is from the fused one, which serves as a fixed teacher.

    mean_b Σ_a |σ(s^a / t) - σ(sg(s^p) / t)|
    """
    teacher = torch.sigmoid(s_p.detach() / t)
    gaps = [(torch.sigmoid(s / t) - teacher).abs().mean() for s in views.values()]
    return torch.stack(gaps).sum()


def irreversibility_loss(forward: Tensor, reverse: Tensor, mu: float) -> Tensor:
    """What a positive pair costs when both of its directions are believed.

    mean over positives of max(0, σ(s_ij) + σ(s_ji) - μ); 0 when there is no positive.
    """
    if len(forward) == 0:
        return forward.sum()
    return F.relu(torch.sigmoid(forward) + torch.sigmoid(reverse) - mu).mean()
