"""How long a user waits before anything happens: `import proprl` and `proprl --help`.

Prints by how many processor seconds the best of five runs takes longer than `python -c pass`, and
exits 1 when one is over its limit. Neither command waits for anything: on an idle machine these are
the seconds that pass. Whatever else a machine does only adds to them, so the best counts.
"""

from __future__ import annotations

import resource
import subprocess
import sys

LIMIT = 0.3  # seconds
COMMANDS = {
    "import proprl": [sys.executable, "-c", "import proprl"],
    "proprl --help": [sys.executable, "-m", "proprl", "--help"],
}


def best_of(command: list[str], runs: int = 5) -> float:
    seconds = []
    for _ in range(runs):
        before = _used()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(_used() - before)
    return min(seconds)


def _used() -> float:
    """Give the processor seconds of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    nothing, failed = best_of([sys.executable, "-c", "pass"]), False
    for what, command in COMMANDS.items():
        seconds = best_of(command) - nothing
        failed |= seconds > LIMIT
        slow = "  TOO SLOW" if seconds > LIMIT else ""
        print(f"{what}: {seconds:.2f} s more than nothing (limit {LIMIT} s){slow}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
