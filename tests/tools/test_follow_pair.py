"""What counts as a file entered, and as a call against the layers."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from follow_pair import Follower, layer_heights, layer_of

FILES = {
    "errors.py": "def check(): pass",
    "data.py": "def read(): return [1]\ndef each(): yield 1; yield 2\ndef ask(up): return up()",
    "fit/rows.py": "def rows(): return 3",
    "fit/model.py": (
        "from small import data, errors\nfrom small.fit import rows\n"
        "def fit():\n"
        "    errors.check()\n"
        "    data.read()\n"
        "    return rows.rows() + sum(map(int, data.each()))\n"
    ),
    "face.py": (
        "from small import data\nfrom small.fit import model\n"
        "def back(): return 1\n"
        "def ask(): return model.fit() + data.ask(back)\n"
    ),
}
HEIGHTS = {"face": 4, "fit": 3, "data": 2, "errors": 1}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a few layers."""
    for name, text in {**FILES, "__init__.py": "", "fit/__init__.py": ""}.items():
        file = tmp_path / "small" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in [name for name in sys.modules if name.partition(".")[0] == "small"]:
        monkeypatch.delitem(sys.modules, module)
    return tmp_path / "small"


def followed(package: Path) -> Follower:
    follower = Follower(package, HEIGHTS)
    with follower.watching():
        face = __import__("small.face").face  # imported meanwhile: that is not counted
        assert isinstance(face, ModuleType)
        assert face.ask() == 7
    return follower


def test_files_are_counted_once_and_those_that_everything_uses_never(small: Path) -> None:
    assert followed(small).files == {"face.py", "data.py", "fit/model.py", "fit/rows.py"}


def test_only_calls_to_the_same_layer_or_a_higher_one_count(small: Path) -> None:
    assert followed(small).calls == {
        ("fit/model.py", "fit/rows.py"): 1,
        ("data.py", "face.py"): 1,  # a function was handed down, and called from below
    }


def test_layers_on_one_line_stand_equally_high() -> None:
    contract = """
        [[tool.importlinter.contracts]]
        type = "layers"
        layers = ["cli : __main__", "files | progress", "(version)"]
    """
    assert layer_heights(contract) == {
        "cli": 3,
        "__main__": 3,
        "files": 2,
        "progress": 2,
        "version": 1,
    }


@pytest.mark.parametrize(
    ("file", "layer"), [("models/sequitur.py", "models"), ("fitting.py", "fitting")]
)
def test_a_layer_is_a_folder_or_a_file(file: str, layer: str) -> None:
    assert layer_of(file) == layer
