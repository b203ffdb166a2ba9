"""The same seed gives the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from proprl.errors import TrainingError


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
