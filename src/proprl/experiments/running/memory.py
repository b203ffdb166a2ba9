"""By how much the memory in use grows while something runs."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from pathlib import Path

PROCESS = Path("/proc/self")


class PeakMemory:
    """Watches the process' resident memory from now on; on Linux only.

    Other systems cannot forget the peak so far. A run would hide behind the peaks of earlier runs
    in the same process, so nothing is measured there.
    """

    def __init__(self) -> None:
        _give_back()
        try:
            (PROCESS / "clear_refs").write_text("5")  # see proc(5): resets VmHWM
            self.before: int | None = _kib("VmRSS")
        except OSError:
            self.before = None

    def growth_mb(self) -> float | None:
        """Give by how many MB the peak since the start exceeds what was in use at the start."""
        return None if self.before is None else (_kib("VmHWM") - self.before) * 1024 / 1e6


def _give_back() -> None:
    """Return freed memory to the system: if it were used again, that would not count as growth."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library has no such call
        ctypes.CDLL(None).malloc_trim(0)


def _kib(field: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise OSError(f"{PROCESS}/status does not tell {field}")
