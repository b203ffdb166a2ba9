"""The state of an unfinished run, kept in one file that is replaced after every epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from proprl.errors import CheckpointError
from proprl.files import remove_leftovers, replacing


@dataclass(frozen=True)
class Checkpoint:
    """Where a run keeps its state, and what the run is.

    `run` names everything that decides the outcome (data, settings, seed). A checkpoint of
    another run is refused: continuing it would give a model that no command describes.
    """

    path: Path
    run: Mapping[str, str]
    resume: bool = False

    def save(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Replace the file by this state, whole or not at all."""
        metadata = {"run": json.dumps(dict(self.run)), "facts": json.dumps(dict(facts))}
        contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
        with replacing(self.path) as temporary:
            try:
                save_file(contiguous, temporary, metadata)
            except SafetensorError as error:  # how safetensors reports a full disk
                raise OSError(str(error)) from error

    def load(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Give the kept state, or None for a run that starts at the beginning.

        Without `resume`, what an earlier run has kept is dropped.
        """
        if not self.resume:
            self.remove()
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            run, facts = json.loads(metadata["run"]), json.loads(metadata["facts"])
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise CheckpointError(
                f"{self.path} is not a readable checkpoint ({error}); "
                "remove it and train again without --resume"
            ) from error
        changed = [key for key in self.run if run.get(key) != self.run[key]]
        if changed:
            was = ", ".join(f"{key} {run.get(key)}" for key in changed)
            now = ", ".join(f"{key} {self.run[key]}" for key in changed)
            raise CheckpointError(
                f"{self.path} belongs to another run ({was}; now {now}); "
                "use the same data and options, or train again without --resume"
            )
        return tensors, facts

    def remove(self) -> None:
        """Remove the file: the run is complete, or another one starts over."""
        if self.path.exists():
            self.path.unlink()
        remove_leftovers(self.path)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Give the optimiser's state as flat, named tensors."""
    state = optimiser.state_dict()["state"]
    return {f"{i}.{key}": value for i, entry in state.items() for key, value in entry.items()}


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `optimiser_tensors` gave."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        index, key = name.split(".", 1)
        state.setdefault(int(index), {})[key] = tensor
    optimiser.load_state_dict(
        {"state": state, "param_groups": optimiser.state_dict()["param_groups"]}
    )
