"""Learn which concepts must be learned before which.

>>> import proprl
>>> course = proprl.load_course("campus")
>>> len(course)
158
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from proprl.version import __version__ as __version__

if TYPE_CHECKING:
    from proprl.curriculum import Edge, Explanation, PrerequisiteGraph
    from proprl.data import (
        Course,
        LabelledPairs,
        PairSplit,
        bundled_courses,
        check_course,
        load_course,
        read_course,
        write_course,
    )
    from proprl.errors import (
        BundleError,
        CheckpointError,
        CourseError,
        DivergedError,
        FeatureError,
        MissingExtraError,
        MissingInputError,
        OutputError,
        Problem,
        ProprlError,
        PublicDataError,
        SplitError,
        TrainingError,
        UnknownConceptError,
        UnknownMethodError,
    )
    from proprl.estimator import PrerequisiteModel, ProPRL, load_model
    from proprl.features.encoders import encode

# By default OpenMP's threads spin while they wait for each other. When another program wants a
# core, they wait for a thread that is not running: training was seen to take 30 times as long.
# Has an effect only before torch is loaded; a choice of the user's stands.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Public names and the modules that hold them. They are imported on first use: torch alone
# takes over a second, and `import proprl` must not.
_HOME = {
    "proprl.curriculum": ("Edge", "Explanation", "PrerequisiteGraph"),
    "proprl.data": (
        "Course",
        "LabelledPairs",
        "PairSplit",
        "bundled_courses",
        "check_course",
        "load_course",
        "read_course",
        "write_course",
    ),
    "proprl.errors": (
        "BundleError",
        "CheckpointError",
        "CourseError",
        "DivergedError",
        "FeatureError",
        "MissingExtraError",
        "MissingInputError",
        "OutputError",
        "Problem",
        "ProprlError",
        "PublicDataError",
        "SplitError",
        "TrainingError",
        "UnknownConceptError",
        "UnknownMethodError",
    ),
    "proprl.estimator": ("PrerequisiteModel", "ProPRL", "load_model"),
    "proprl.features.encoders": ("encode",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "BundleError",
    "CheckpointError",
    "Course",
    "CourseError",
    "DivergedError",
    "Edge",
    "Explanation",
    "FeatureError",
    "LabelledPairs",
    "MissingExtraError",
    "MissingInputError",
    "OutputError",
    "PairSplit",
    "PrerequisiteGraph",
    "PrerequisiteModel",
    "ProPRL",
    "Problem",
    "ProprlError",
    "PublicDataError",
    "SplitError",
    "TrainingError",
    "UnknownConceptError",
    "UnknownMethodError",
    "bundled_courses",
    "check_course",
    "encode",
    "load_course",
    "load_model",
    "read_course",
    "write_course",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'proprl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
