"""The one training loop of all networks; under one seed it ends with the same bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.parts import PairSplit
from proprl.errors import DivergedError, TrainingError
from proprl.evaluation.metrics import auc
from proprl.progress import SILENT, Progress
from proprl.training.bundle import joined, part_of
from proprl.training.checkpoint import Checkpoint, optimiser_tensors, restore_optimiser


@dataclass(frozen=True)
class Schedule:
    """How long and in what steps to train."""

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float = 0.0
    patience: int | None = None
    """Stop after this many epochs without a better validation AUC; None: never."""
    decoupled_decay: bool = False
    """Weight decay apart from the gradient (AdamW) instead of within it (Adam)."""
    halve_at: tuple[float, ...] = ()
    """Halve the learning rate after these shares of the epochs."""
    clip_norm: float | None = None
    """Scale gradients down to this norm; None: never."""

    def rate(self, epoch: int) -> float:
        """Give the learning rate of an epoch, counted from 0."""
        return self.learning_rate * 0.5 ** sum(epoch >= s * self.epochs for s in self.halve_at)


@dataclass(frozen=True)
class EpochRecord:
    """What one epoch came to. `validation_auc` is None where validation lacks a class."""

    loss: float
    validation_auc: float | None
    validation_loss: float


@dataclass
class History:
    """Every epoch of a run, and which of them was kept."""

    epochs: list[EpochRecord] = field(default_factory=list)
    best_epoch: int = -1

    def add(self, record: EpochRecord) -> bool:
        """Append an epoch; True if it is the best so far, by AUC, or by loss without an AUC."""
        self.epochs.append(record)
        better = self.best_epoch < 0 or _rank(record) > _rank(self.epochs[self.best_epoch])
        if better:
            self.best_epoch = len(self.epochs) - 1
        return better


def _rank(record: EpochRecord) -> tuple[float, float]:
    """Give what epochs are ordered by: validation AUC, then validation loss."""
    return (record.validation_auc or 0.0, -record.validation_loss)


def train_network(
    network: nn.Module,
    loss: Callable[[Tensor, Tensor], Tensor],
    score: Callable[[IntArray], FloatArray],
    split: PairSplit,
    schedule: Schedule,
    *,
    device: torch.device,
    progress: Progress = SILENT,
    checkpoint: Checkpoint | None = None,
    before_epoch: Callable[[], None] = lambda: None,
) -> History:
    """Train `network` in place, leave it at its best validation epoch, and give the history.

    `loss(pairs, labels)` is the objective of a batch; `score(pairs)` gives probabilities in
    evaluation mode; `before_epoch` may draw what changes from epoch to epoch, from torch's global
    generator. Call inside `seeded(...)`: then a run that was killed and resumed ends
    with the same bits as one that was not.
    """
    pairs = torch.from_numpy(split.train.pairs).to(device)
    labels = torch.from_numpy(split.train.labels).to(device, torch.float32)
    optimiser = torch.optim.Adam(
        network.parameters(),
        lr=schedule.learning_rate,
        weight_decay=schedule.weight_decay,
        decoupled_weight_decay=schedule.decoupled_decay,
        fused=True,
    )
    history = History()
    best: dict[str, Tensor] = {}
    kept = checkpoint.load() if checkpoint else None
    if kept:
        best, history = _restore(kept, network, optimiser)

    progress.begin("training", schedule.epochs, done=len(history.epochs))
    while not _finished(history, schedule):
        for group in optimiser.param_groups:
            group["lr"] = schedule.rate(len(history.epochs))
        before_epoch()
        network.train()
        mean_loss = _epoch(network, loss, pairs, labels, optimiser, schedule)
        if not math.isfinite(mean_loss):
            raise DivergedError(
                f"the loss is {mean_loss} in epoch {len(history.epochs) + 1}; "
                "try a lower learning rate"
            )
        record = _validate(mean_loss, score, split)
        if history.add(record):
            best = {name: value.detach().clone() for name, value in network.state_dict().items()}
        if checkpoint:
            _save(checkpoint, network, optimiser, best, history)
        progress.step(loss=record.loss, validation_auc=record.validation_auc or math.nan)
    progress.end()
    network.load_state_dict(best)
    network.eval()
    return history


def _epoch(
    network: nn.Module,
    loss: Callable[[Tensor, Tensor], Tensor],
    pairs: Tensor,  # (m, 2)
    labels: Tensor,  # (m,)
    optimiser: torch.optim.Optimizer,
    schedule: Schedule,
) -> float:
    """Take one step for each batch, and give the mean loss of a pair."""
    total = 0.0
    for batch in torch.split(torch.randperm(len(pairs)).to(pairs.device), schedule.batch_size):
        optimiser.zero_grad()
        batch_loss = loss(pairs[batch], labels[batch])
        batch_loss.backward()  # type: ignore[no-untyped-call]
        if schedule.clip_norm is not None:
            nn.utils.clip_grad_norm_(network.parameters(), schedule.clip_norm)
        optimiser.step()
        total += batch_loss.item() * len(batch)
    return total / len(pairs)


def _finished(history: History, schedule: Schedule) -> bool:
    """Tell whether all epochs are done, or none was better for too long."""
    done = len(history.epochs)
    waited = done - 1 - history.best_epoch
    return done >= schedule.epochs or waited >= (schedule.patience or math.inf)


def _validate(
    train_loss: float, score: Callable[[IntArray], FloatArray], split: PairSplit
) -> EpochRecord:
    """Score the validation pairs once; without any, the training loss decides."""
    if len(split.validation) == 0:
        return EpochRecord(train_loss, None, train_loss)
    p = torch.from_numpy(score(split.validation.pairs)).double().clamp(1e-7, 1 - 1e-7)
    if not bool(p.isfinite().all()):
        raise DivergedError("validation scores are not numbers; try a lower learning rate")
    y = torch.from_numpy(split.validation.labels).double()
    validation_loss = nn.functional.binary_cross_entropy(p, y).item()
    validation_auc = auc(split.validation.labels, p.numpy())
    return EpochRecord(
        train_loss, None if math.isnan(validation_auc) else validation_auc, validation_loss
    )


def _save(
    checkpoint: Checkpoint,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    best: dict[str, Tensor],
    history: History,
) -> None:
    tensors = joined(
        network=network.state_dict(), best=best, optimiser=optimiser_tensors(optimiser)
    )
    checkpoint.save({**tensors, "rng": torch.get_rng_state()}, asdict(history))


def _restore(
    kept: tuple[dict[str, Tensor], dict[str, Any]],
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
) -> tuple[dict[str, Tensor], History]:
    tensors, facts = kept
    network.load_state_dict(part_of(tensors, "network"))
    restore_optimiser(optimiser, part_of(tensors, "optimiser"))
    torch.set_rng_state(tensors["rng"])
    epochs = [EpochRecord(**record) for record in facts["epochs"]]
    return part_of(tensors, "best"), History(epochs, facts["best_epoch"])


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run a block under `seed` with deterministic kernels; leave the caller's state as it was.

    Initial weights, the order of batches and dropout all draw from torch's global generator,
    so its state is all that a checkpoint needs to keep.

    >>> with seeded(7):
    ...     a = torch.rand(3)
    >>> with seeded(7):
    ...     b = torch.rand(3)
    >>> bool((a == b).all())
    True
    """
    before = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        # A few CUDA kernels have no deterministic version: there, a warning has to do.
        torch.use_deterministic_algorithms(True, warn_only=torch.cuda.is_available())
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before, warn_only=warn_only)


def pick_device(device: str = "auto") -> torch.device:
    """Give the device of that name; "auto" is a GPU where there is one, else the CPU."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0]
        raise TrainingError(f"cannot compute on the device {device!r}: {why}") from error
