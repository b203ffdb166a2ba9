"""What `import proprl` offers, and how fast."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import proprl

PUBLIC = [
    "BundleError", "CheckpointError", "Course", "CourseError", "DivergedError", "Edge",
    "Explanation", "FeatureError", "LabelledPairs", "MissingExtraError", "MissingInputError",
    "OutputError",
    "PairSplit", "PrerequisiteGraph", "PrerequisiteModel", "ProPRL", "Problem", "ProprlError",
    "PublicDataError", "SplitError", "TrainingError", "UnknownConceptError", "UnknownMethodError",
    "bundled_courses",
    "check_course", "encode", "load_course", "load_model", "read_course", "write_course",
]  # fmt: skip


def test_the_public_names_are_these() -> None:
    assert sorted(proprl.__all__) == sorted(PUBLIC)
    assert set(PUBLIC) <= set(dir(proprl))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = proprl.nothing


def modules() -> list[str]:
    found = pkgutil.walk_packages(proprl.__path__, "proprl.")
    return [m.name for m in found if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_every_public_thing_has_a_docstring(name: str) -> None:
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), name
    for attribute, value in vars(module).items():
        if attribute.startswith("_") or getattr(value, "__module__", None) != name:
            continue
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        assert inspect.getdoc(value), f"{name}.{attribute}"
        if inspect.isclass(value):
            for method, function in vars(value).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    assert inspect.getdoc(function), f"{name}.{attribute}.{method}"


def test_importing_proprl_loads_nothing_heavy() -> None:
    code = (
        "import sys, proprl; "
        "print([m for m in ('torch', 'numpy', 'sklearn', 'polars', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
