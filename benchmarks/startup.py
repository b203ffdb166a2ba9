"""How long a user waits before anything happens: `import proprl` and `proprl --help`.

Prints the best of five runs and exits 1 when one is over its limit (0.3 s and 0.5 s).
The best is the right figure here: whatever else the machine does only adds to it.
"""

from __future__ import annotations

import subprocess
import sys
import time

LIMITS = {
    "import proprl": ([sys.executable, "-c", "import proprl"], 0.3),
    "proprl --help": ([sys.executable, "-m", "proprl", "--help"], 0.5),
}


def best_of(command: list[str], runs: int = 5) -> float:
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def main() -> int:
    failed = False
    for what, (command, limit) in LIMITS.items():
        best = best_of(command)
        failed |= best > limit
        print(f"{what}: {best:.2f} s (limit {limit} s){'  TOO SLOW' if best > limit else ''}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
