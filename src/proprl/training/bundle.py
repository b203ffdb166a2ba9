"""A trained model on disk: a folder with `model.json` and the arrays it names.

`model.json` is the root: it names every other file with its SHA-256 and carries a checksum
of itself. Arrays are written first, under a name made from their content; replacing
`model.json` is the one step that turns the old model into the new. A crash or a full disk
before that step leaves the old model whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from proprl.errors import BundleError
from proprl.files import write_bytes

FORMAT = 1
ROOT = "model.json"

Arrays = Mapping[str, npt.NDArray[Any]]


def write_bundle(folder: Path, content: Mapping[str, Any], files: Mapping[str, Arrays]) -> None:
    """Write a model: its description, and named files of named arrays."""
    folder = Path(folder)
    check_destination(folder)
    listing: dict[str, dict[str, str]] = {}
    for name, arrays in files.items():
        data = save({key: np.ascontiguousarray(value) for key, value in arrays.items()})
        digest = hashlib.sha256(data).hexdigest()
        file = f"{name}-{digest[:12]}.safetensors"
        write_bytes(folder / file, data)
        listing[name] = {"file": file, "sha256": digest}
    document = {"format": FORMAT, **content, "files": listing}
    write_bytes(folder / ROOT, _encode({**document, "checksum": _checksum(document)}))
    named = {entry["file"] for entry in listing.values()}
    for path in folder.glob("*-*.safetensors"):
        if path.name not in named:
            path.unlink(missing_ok=True)


def check_destination(folder: Path) -> None:
    """Refuse a folder that holds something other than a model: never mix the two."""
    if folder.exists() and not folder.is_dir():
        raise BundleError(f"{folder} is a file; choose a folder for the model")
    if not folder.is_dir() or (folder / ROOT).exists():
        return
    # An unfinished run leaves its checkpoint here, and hidden files are nobody's work.
    foreign = [p.name for p in folder.iterdir() if not p.name.startswith((".", "checkpoint."))]
    if any(not name.endswith(".safetensors") for name in foreign):
        raise BundleError(
            f"{folder} is not empty and holds no model (found {sorted(foreign)[0]}); "
            "choose another folder"
        )


def read_bundle(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, npt.NDArray[Any]]]]:
    """Give a model's description and its files of arrays; anything suspicious is refused."""
    folder = Path(folder)
    document = _read_root(folder)
    files = {name: _read_arrays(folder, entry) for name, entry in document.pop("files").items()}
    return document, files


def _read_root(folder: Path) -> dict[str, Any]:
    path = folder / ROOT
    if not path.is_file():
        what = "does not exist" if not folder.exists() else f"holds no {ROOT}"
        raise BundleError(f"{folder} {what}: give the folder that `proprl train --out` wrote")
    try:
        raw = path.read_bytes()
        document = json.loads(raw)
    except (OSError, ValueError) as error:
        raise BundleError(f"{path} is damaged ({error}); restore it or train again") from error
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise BundleError(f"{path} is not a proprl model: it has no format number")
    if document["format"] > FORMAT:
        raise BundleError(
            f"{path} has format {document['format']}, this version of proprl reads up to "
            f"{FORMAT}; update proprl"
        )
    checksum = document.pop("checksum", None)
    if checksum != _checksum(document) or raw != _encode({**document, "checksum": checksum}):
        raise BundleError(
            f"{path} does not match its checksum: it was changed or damaged; "
            "restore it or train again"
        )
    return document


def _read_arrays(folder: Path, entry: Mapping[str, str]) -> dict[str, npt.NDArray[Any]]:
    name = entry["file"]
    path = folder / name
    # A name with a folder in it, or a link, could lead to any file of the machine.
    if Path(name).name != name or name in {"", ".", ".."} or path.is_symlink():
        raise BundleError(f"{folder / ROOT} names {name!r}, which leaves the folder; refused")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BundleError(
            f"{folder} lacks {name}, which {ROOT} names; copy the whole folder or train again"
        ) from None
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror or error}") from error
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise BundleError(
            f"{path} does not match its checksum: it was changed or damaged; "
            "restore it or train again"
        )
    try:
        return dict(load(data))
    except SafetensorError as error:
        raise BundleError(f"{path} is not a safetensors file ({error})") from error


def _encode(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def _checksum(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(_encode(document)).hexdigest()
