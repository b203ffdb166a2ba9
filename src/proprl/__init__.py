"""Learn which concepts must be learned before which.

>>> import proprl
>>> course = proprl.load_course("campus")
>>> len(course)
158
"""

from __future__ import annotations

import ast
import os
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# By default OpenMP's threads spin while they wait for each other. When another program wants a
# core, they wait for a thread that is not running: training was seen to take 30 times as long.
# Has an effect only before torch is loaded; a choice of the user's stands.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# `__init__.pyi` lists the public names, for type checkers and for us. They are imported on first
# use: torch alone takes over a second, and `import proprl` must not.
_LISTED = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
_MODULE_OF = {
    name.name: str(line.module)
    for line in _LISTED
    if isinstance(line, ast.ImportFrom)
    for name in line.names
}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'proprl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
