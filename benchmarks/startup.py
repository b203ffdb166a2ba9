"""How long a user waits before anything happens: `import proprl` and `proprl --help`.

Prints by how much the best of five runs is slower than `python -c pass`, and exits 1 when one is
over its limit. The best is the right figure here: whatever else the machine does only adds to it.
"""

from __future__ import annotations

import subprocess
import sys
import time

LIMIT = 0.3  # seconds
COMMANDS = {
    "import proprl": [sys.executable, "-c", "import proprl"],
    "proprl --help": [sys.executable, "-m", "proprl", "--help"],
}


def best_of(command: list[str], runs: int = 5) -> float:
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    return min(seconds)


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
