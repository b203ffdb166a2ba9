"""Vectors kept by content, so that the same texts are encoded once per machine.

The cache is a convenience: what is missing or damaged is computed again, and a folder that cannot
be written costs a warning, never a result. It lives in the user's cache folder, or where the
environment variable ``PROPRL_CACHE`` points; deleting it is always safe.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from proprl.arrays import FloatArray
from proprl.errors import OutputError
from proprl.files import cache_folder as cache_folder
from proprl.files import write_bytes

_warned: set[Path] = set()


def cache_key(encoder: str, version: str, texts: Sequence[str]) -> str:
    """Name under which the vectors of `texts` are kept: a hash of all that decides them."""
    digest = hashlib.sha256()
    for part in (encoder, version, *texts):
        data = part.encode()
        # The length comes first, so that ["ab", ""] and ["a", "b"] differ.
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def read(key: str) -> FloatArray | None:
    """Vectors kept under `key`, or None when there are none or the file is damaged."""
    try:
        stored = load(_file(key).read_bytes())
        X: FloatArray = stored["X"]
        intact = np.array_equal(stored["sha256"], _checksum(X))
    except (OSError, SafetensorError, KeyError, ValueError, TypeError):
        return None
    return X if intact else None


def write(key: str, X: FloatArray) -> None:
    """Keep `X` under `key`, whole or not at all; a folder that refuses is warned of once."""
    file = _file(key)
    try:
        write_bytes(file, save({"X": X, "sha256": _checksum(X)}))
    except OutputError as error:
        if file.parent not in _warned:
            _warned.add(file.parent)
            warnings.warn(
                f"vectors are not kept in {file.parent} ({error}); "
                "set PROPRL_CACHE to a folder that can",
                stacklevel=3,
            )


def _file(key: str) -> Path:
    return cache_folder() / "features" / f"{key}.safetensors"


def _checksum(X: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    # safetensors notices a file cut short, but not a changed byte.
    content = hashlib.sha256(f"{X.dtype} {X.shape}".encode() + X.tobytes())
    return np.frombuffer(content.digest(), dtype=np.uint8)
