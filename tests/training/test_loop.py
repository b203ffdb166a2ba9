"""The training loop: best epoch, early stopping, seeds, and interrupted runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import CheckpointError, OutputError, TrainingError
from proprl.training.checkpoint import Checkpoint
from proprl.training.loop import (
    EpochRecord,
    History,
    Schedule,
    pick_device,
    seeded,
    train_network,
)

CPU = torch.device("cpu")


def toy_split(validation_labels: tuple[int, ...] = (0, 1, 0, 1)) -> PairSplit:
    rng = np.random.default_rng(0)
    train = LabelledPairs(rng.integers(0, 9, (40, 2)), np.arange(40) % 2)
    count = len(validation_labels)
    validation = LabelledPairs(
        rng.integers(0, 9, (count, 2)).reshape(-1, 2), np.array(validation_labels, dtype=np.int64)
    )
    return PairSplit(train, validation, LabelledPairs.empty(), "given", promises_reversed=False)


class Toy(nn.Module):
    """A table of logits with dropout, so that every source of randomness is at work."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Linear(18, 1)
        self.dropout = nn.Dropout(0.3)

    def forward(self, pairs: Tensor) -> Tensor:
        hot = nn.functional.one_hot(pairs, 9).flatten(1).float()
        logits: Tensor = self.table(self.dropout(hot)).squeeze(-1)
        return logits


def train(
    seed: int = 0,
    *,
    epochs: int = 8,
    patience: int | None = None,
    split: PairSplit | None = None,
    checkpoint: Checkpoint | None = None,
    stop_after: int | None = None,
) -> tuple[Toy, History]:
    with seeded(seed):
        toy = Toy()
        calls = 0

        def loss(pairs: Tensor, y: Tensor) -> Tensor:
            return nn.functional.binary_cross_entropy_with_logits(toy(pairs), y)

        def score(pairs: IntArray) -> FloatArray:
            nonlocal calls
            calls += 1
            if stop_after is not None and calls > stop_after:
                raise KeyboardInterrupt
            toy.eval()
            with torch.no_grad():
                p: FloatArray = torch.sigmoid(toy(torch.from_numpy(pairs))).numpy()
            return p

        history = train_network(
            toy,
            loss,
            score,
            split or toy_split(),
            Schedule(epochs, batch_size=16, learning_rate=0.05, patience=patience),
            device=CPU,
            checkpoint=checkpoint,
        )
    return toy, history


def weights(toy: Toy) -> bytes:
    return b"".join(value.numpy().tobytes() for value in toy.state_dict().values())


def test_the_same_seed_gives_the_same_bits() -> None:
    assert weights(train(3)[0]) == weights(train(3)[0])
    assert weights(train(3)[0]) != weights(train(4)[0])


def test_the_callers_random_state_is_left_alone() -> None:
    torch.manual_seed(11)
    expected = torch.rand(2)
    torch.manual_seed(11)
    train(0)
    assert torch.equal(torch.rand(2), expected)
    assert not torch.are_deterministic_algorithms_enabled()


def test_an_epoch_says_how_surely_validation_pairs_were_judged() -> None:
    p = np.array([0.02, 0.99, 0.4, 0.7])  # of labels 0, 1, 0, 1
    table = nn.Linear(1, 1)
    (record,) = train_network(
        table,
        lambda pairs, _: table(pairs[:, :1].float()).mean(),
        lambda _: p,
        toy_split(),
        Schedule(1, batch_size=40, learning_rate=0.1),
        device=CPU,
    ).epochs
    assert record.validation_loss == pytest.approx(-np.log([0.98, 0.99, 0.6, 0.7]).mean())
    assert record.validation_auc == 1


def test_the_best_validation_epoch_is_kept() -> None:
    history = History()
    assert history.add(EpochRecord(1.0, 0.6, 0.9))
    assert history.add(EpochRecord(0.9, 0.8, 0.9))
    assert not history.add(EpochRecord(0.8, 0.7, 0.1))
    assert history.best_epoch == 1


def test_equal_auc_is_decided_by_the_validation_loss() -> None:
    history = History()
    history.add(EpochRecord(1.0, 0.8, 0.9))
    assert history.add(EpochRecord(0.9, 0.8, 0.7))
    assert not history.add(EpochRecord(0.9, 0.8, 0.75))


def test_validation_with_one_class_is_decided_by_the_loss() -> None:
    _, history = train(split=toy_split(validation_labels=(1, 1)))
    losses = [record.validation_loss for record in history.epochs]
    assert all(record.validation_auc is None for record in history.epochs)
    assert history.best_epoch == int(np.argmin(losses))


def test_patience_ends_training_early() -> None:
    _, history = train(epochs=200, patience=3)
    assert len(history.epochs) == history.best_epoch + 1 + 3


@pytest.mark.parametrize("done", [1, 4, 7])
def test_an_interrupted_run_ends_with_the_same_bits(tmp_path: Path, done: int) -> None:
    undisturbed, history = train(5)
    path, run = tmp_path / "checkpoint.safetensors", {"seed": "5"}
    with pytest.raises(KeyboardInterrupt):
        train(5, checkpoint=Checkpoint(path, run), stop_after=done)
    resumed, resumed_history = train(5, checkpoint=Checkpoint(path, run, resume=True))
    assert weights(resumed) == weights(undisturbed)
    assert resumed_history == history


def test_resuming_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    train(5, checkpoint=Checkpoint(path, {"seed": "5"}))
    with pytest.raises(CheckpointError, match=r"another run \(seed 5; now seed 6\)"):
        train(6, checkpoint=Checkpoint(path, {"seed": "6"}, resume=True))


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(CheckpointError, match="remove it and train again"):
        train(5, checkpoint=Checkpoint(path, {}, resume=True))


def test_without_resume_the_run_starts_over(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    train(5, epochs=2, checkpoint=Checkpoint(path, {}))
    again, _ = train(6, checkpoint=Checkpoint(path, {}))
    assert weights(again) == weights(train(6)[0])


def test_a_checkpoint_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        train(checkpoint=Checkpoint(tmp_path / "file" / "checkpoint.safetensors", {}))


def test_a_run_that_starts_over_drops_the_old_checkpoint_at_once(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    train(5, epochs=2, checkpoint=Checkpoint(path, {"seed": "5"}))
    with pytest.raises(KeyboardInterrupt):
        train(6, checkpoint=Checkpoint(path, {"seed": "6"}), stop_after=0)
    assert not path.exists()


def test_an_unknown_device_is_one_clear_error() -> None:
    with pytest.raises(TrainingError, match="cannot compute on the device 'abacus'"):
        pick_device("abacus")


@pytest.mark.parametrize(("loss", "score"), [(float("nan"), 0.5), (1.0, float("nan"))])
def test_numbers_that_are_not_finite_stop_training(loss: float, score: float) -> None:
    toy = Toy()
    with pytest.raises(TrainingError, match="lower learning rate"):
        train_network(
            toy,
            lambda pairs, _: toy(pairs).sum() * loss,
            lambda pairs: np.full(len(pairs), score),
            toy_split(),
            Schedule(epochs=2, batch_size=16, learning_rate=0.1),
            device=CPU,
        )
