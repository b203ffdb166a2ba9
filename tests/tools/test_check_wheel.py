"""A wheel without its data is noticed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from check_wheel import SRC, faults, main, source_files

FILES = source_files(SRC)


def test_a_wheel_with_every_file_is_whole() -> None:
    assert faults([*FILES, "proprl-0.1.0.dist-info/METADATA"], FILES) == []


@pytest.mark.parametrize(
    "lost",
    [
        "proprl/data/campus/pairs.csv",
        "proprl/experiments/settings/methods.toml",
        "proprl/report/templates/page.html.j2",
        "proprl/estimator.py",
    ],
)
def test_what_is_lost_is_named(lost: str) -> None:
    assert faults([file for file in FILES if file != lost], FILES) == [f"it lacks {lost}"]


def test_data_that_is_nowhere_is_noticed_too() -> None:
    without = [file for file in FILES if not file.startswith("proprl/report/templates/")]
    assert "it has no proprl/report/templates/*.j2" in faults(without, without)


def test_the_command_looks_into_the_wheel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "proprl.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in FILES[1:]:
            archive.write(SRC / file, file)
    assert main([str(wheel)]) == 1
    assert capsys.readouterr().out == f"{wheel}: it lacks {FILES[0]}\n"
