"""What `--help` promises."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from proprl.models.registry import METHODS
from terminal import Terminal


def test_the_methods_that_help_names_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Terminal(monkeypatch, capsys)("train", "--help")
    named = re.search(r"The method: ([\w, -]+), …", " ".join(said.split()))
    assert named is not None
    assert set(named[1].split(", ")) <= set(METHODS)


@pytest.mark.parametrize("command", [[], ["train"], ["course", "audit"]])
def test_help_loads_nothing_that_it_does_not_show(command: list[str]) -> None:
    code = (
        "import atexit, sys; from proprl.cli import main; "
        "heavy = 'torch numpy polars sklearn scipy rustworkx rich.progress markdown_it'.split(); "
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules])); "
        f"sys.argv = ['proprl', *{command}, '--help']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
