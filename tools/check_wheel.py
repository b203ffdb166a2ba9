"""Check that a wheel holds every file of the library, data and templates included.

    python tools/check_wheel.py dist/proprl-0.1.0-py3-none-any.whl

Without them the library would install, and fail at the first course or report.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
DATA = (
    "proprl/data/campus/*.csv",
    "proprl/data/campus/course.toml",
    "proprl/data/public/*.csv",
    "proprl/data/public/*.toml",
    "proprl/experiments/settings/*.toml",
    "proprl/experiments/settings/*.csv",
    "proprl/experiments/settings/*.json",
    "proprl/report/templates/*.j2",
    "proprl/report/templates/*.css",
    "proprl/__init__.pyi",
    "proprl/py.typed",
)
"""What is no code. Listed here too: a folder that moves is not to be forgotten in silence."""


def source_files(src: Path) -> list[str]:
    """Give every file of the library, by its path in a wheel."""
    files = (path for path in (src / "proprl").rglob("*") if path.is_file())
    return sorted(
        path.relative_to(src).as_posix() for path in files if "__pycache__" not in path.parts
    )


def faults(held: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Say what a wheel lacks."""
    names = set(held)
    lacking = [f"it lacks {name}" for name in wanted if name not in names]
    kinds = [kind for kind in DATA if not any(fnmatch(name, kind) for name in names)]
    return lacking + [f"it has no {kind}" for kind in kinds]


def main(words: Sequence[str]) -> int:
    if len(words) != 1:
        print(__doc__)
        return 2
    with zipfile.ZipFile(words[0]) as wheel:
        held = wheel.namelist()
    found = faults(held, source_files(SRC))
    for fault in found:
        print(f"{words[0]}: {fault}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
