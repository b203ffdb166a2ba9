"""How much more memory a piece of work takes than there was in use before it."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from pathlib import Path

PROCESS = Path("/proc/self")


class PeakMemory:
    """Starts to watch the process' resident memory; only Linux lets the peak so far be forgotten.

    Elsewhere a run would hide behind the peaks of those before it in the same process, so
    nothing is measured.
    """

    def __init__(self) -> None:
        _give_back()
        try:
            (PROCESS / "clear_refs").write_text("5")  # see proc(5): resets VmHWM
            self.before: int | None = _kib("VmRSS")
        except OSError:
            self.before = None

    def growth_mb(self) -> float | None:
        """Give by how many MB the peak since the start exceeds what was in use then."""
        return None if self.before is None else (_kib("VmHWM") - self.before) * 1024 / 1e6


def _give_back() -> None:
    """Return what earlier work has freed to the system: reused, it would not count as growth."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library has no such call
        ctypes.CDLL(None).malloc_trim(0)


def _kib(field: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise OSError(f"{PROCESS}/status does not tell {field}")
