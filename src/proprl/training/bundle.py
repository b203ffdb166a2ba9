"""A trained model on disk: a folder with `model.json` and the arrays it names.

`model.json` is the root: it names every other file with its SHA-256 and carries a checksum
of itself. Arrays are written first, under a name made from their content; replacing
`model.json` is the one step that turns the old model into the new. A crash or a full disk
before that step leaves the old model whole.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save
from scipy.sparse import csr_array

from proprl.arrays import SparseMatrix
from proprl.data.mentions import MOST, on_one_line
from proprl.data.splits.labelled import ORIGINS, LabelledPairs
from proprl.errors import BundleError
from proprl.files import write_bytes
from proprl.graphs.evidence import Evidence

FORMAT = 3
ROOT = "model.json"
# Files that training writes: arrays, the checkpoint of an unfinished run, and what a process
# leaves behind when it is killed while writing one of them.
_OURS = re.compile(
    r"[a-z]+-[0-9a-f]{12}\.safetensors|checkpoint\.safetensors|\..*\.[0-9a-f]{8}\.tmp"
)

# What is known of the concepts as sparse matrices.
MATRICES = ("transitions", "incidence", "resource_links", "named_in")
# Origins are kept as places in this list.
_ORIGINS = sorted(ORIGINS)

Arrays = Mapping[str, npt.NDArray[Any]]
Array = TypeVar("Array")


def write_bundle(folder: Path, content: Mapping[str, Any], files: Mapping[str, Arrays]) -> None:
    """Write a model: its description, and named files of named arrays."""
    folder = Path(folder)
    check_destination(folder)
    replaced = _listed_files(folder)
    written = bundle_files(content, files)
    for file, data in written.items():
        write_bytes(folder / file, data)
    # Only what the old model listed is removed: nothing else in the folder is ours to judge.
    for file in replaced - set(written):
        (folder / file).unlink(missing_ok=True)
    for leftover in folder.glob(".*.safetensors.*.tmp"):  # of a process that was killed
        leftover.unlink(missing_ok=True)


def bundle_files(content: Mapping[str, Any], files: Mapping[str, Arrays]) -> dict[str, bytes]:
    """Give the files of a model by name, in the order in which they must be written."""
    encoded: dict[str, bytes] = {}
    listing: dict[str, dict[str, str]] = {}
    for name, arrays in files.items():
        data = save({key: np.ascontiguousarray(value) for key, value in arrays.items()})
        digest = hashlib.sha256(data).hexdigest()
        file = f"{name}-{digest[:12]}.safetensors"
        encoded[file] = data
        listing[name] = {"file": file, "sha256": digest}
    document = {"format": FORMAT, **content, "files": listing}
    return {**encoded, ROOT: _encode({**document, "checksum": _checksum(document)})}


def check_destination(folder: Path) -> None:
    """Refuse a folder that holds something other than a model: never mix the two."""
    try:
        if folder.exists() and not folder.is_dir():
            raise BundleError(f"{folder} is a file; choose a folder for the model")
        present = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    except OSError as error:
        raise BundleError(f"cannot write {folder}: {error.strerror or error}") from error
    if ROOT in present:
        if not _listed_files(folder):
            raise BundleError(
                f"{folder / ROOT} is not a model of proprl's, or a damaged one; "
                "remove the folder or choose another"
            )
        return
    foreign = sorted(name for name in present if not _OURS.fullmatch(name))
    if foreign:
        raise BundleError(
            f"{folder} is not empty and holds no model (found {foreign[0]}); choose another folder"
        )


def _listed_files(folder: Path) -> set[str]:
    """Give the files that the model in a folder consists of; none where there is no model."""
    try:
        document = json.loads((folder / ROOT).read_bytes())
        names = {entry["file"] for entry in document["files"].values()}
        ours = isinstance(document["format"], int) and isinstance(document["checksum"], str)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return set()
    return {name for name in names if _OURS.fullmatch(str(name))} if ours else set()


def read_bundle(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, npt.NDArray[Any]]]]:
    """Give a model's description and its files of arrays; anything suspicious is refused."""
    folder = Path(folder)
    document = _read_root(folder)
    listing = document.pop("files", None)
    if not isinstance(listing, dict) or not all(
        isinstance(entry, dict) and all(isinstance(entry.get(k), str) for k in ("file", "sha256"))
        for entry in listing.values()
    ):
        raise BundleError(f"{folder / ROOT} is not a proprl model: it lists no files")
    return document, {name: _read_arrays(folder, entry) for name, entry in listing.items()}


def _read_root(folder: Path) -> dict[str, Any]:
    path = folder / ROOT
    try:
        if not path.is_file():
            what = "does not exist" if not folder.exists() else f"holds no {ROOT}"
            raise BundleError(f"{folder} {what}: give the folder that `proprl train --out` wrote")
        raw = path.read_bytes()
        document: dict[str, Any] = json.loads(raw)
    except (OSError, ValueError, RecursionError) as error:
        raise BundleError(f"{path} is damaged ({error}); restore it or train again") from error
    number = document.get("format") if isinstance(document, dict) else None
    if not isinstance(number, int) or number < 1:
        raise BundleError(f"{path} is not a proprl model: it has no format number")
    if number != FORMAT:
        todo = "update proprl" if number > FORMAT else "an older proprl wrote it: train again"
        raise BundleError(
            f"{path} has format {number}, this version of proprl reads format {FORMAT}; {todo}"
        )
    checksum = document.pop("checksum", None)
    if checksum != _checksum(document) or raw != _encode({**document, "checksum": checksum}):
        raise _damaged(path)
    return document


def _damaged(path: Path) -> BundleError:
    return BundleError(
        f"{path} does not match its checksum: it was changed or damaged; restore it or train again"
    )


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
        raise _damaged(path)
    try:
        return dict(load(data))
    except SafetensorError as error:
        raise BundleError(f"{path} is not a safetensors file ({error})") from error


def _encode(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def _checksum(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(_encode(document)).hexdigest()


def joined(**parts: Mapping[str, Array]) -> dict[str, Array]:
    """Give named arrays of several parts as one mapping: the names begin with that of the part.

    >>> joined(line={"w": 1.0}, forest={"roots": 2.0})
    {'line/w': 1.0, 'forest/roots': 2.0}
    """
    return {f"{name}/{k}": v for name, part in parts.items() for k, v in part.items()}


def part_of(arrays: Mapping[str, Array], name: str) -> dict[str, Array]:
    """Give a part of what `joined` made, by its own names.

    >>> part_of({"line/w": 1.0, "forest/roots": 2.0}, "line")
    {'w': 1.0}
    """
    start = f"{name}/"
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def pack_sparse(name: str, matrix: SparseMatrix | None) -> dict[str, npt.NDArray[Any]]:
    """Give a sparse matrix as arrays; nothing for a missing one."""
    if matrix is None:
        return {}
    coo = matrix.tocoo()
    return {
        f"{name}/entries": np.column_stack([coo.row, coo.col]).astype(np.int64),
        f"{name}/values": coo.data.astype(np.float64),
        f"{name}/shape": np.array(coo.shape, dtype=np.int64),
    }


def unpack_sparse(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> SparseMatrix | None:
    """Give back what `pack_sparse` made arrays of."""
    if f"{name}/entries" not in arrays:
        return None
    entries = arrays[f"{name}/entries"]
    shape = tuple(arrays[f"{name}/shape"].tolist())
    return csr_array((arrays[f"{name}/values"], (entries[:, 0], entries[:, 1])), shape=shape)


def pack_labelled(name: str, labelled: LabelledPairs) -> dict[str, npt.NDArray[Any]]:
    """Give labelled pairs as arrays, with where their labels come from."""
    return {
        f"{name}/pairs": labelled.pairs,
        f"{name}/labels": labelled.labels,
        f"{name}/origin": np.searchsorted(_ORIGINS, labelled.origin).astype(np.uint8),
        f"{name}/chance": labelled.chance,
    }


def unpack_labelled(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> LabelledPairs:
    """Give back what `pack_labelled` made arrays of."""
    origin = np.array(_ORIGINS)[arrays[f"{name}/origin"]]
    return LabelledPairs(
        arrays[f"{name}/pairs"], arrays[f"{name}/labels"], origin, arrays[f"{name}/chance"]
    )


def pack_sentences(sentences: Mapping[tuple[int, int], str]) -> dict[str, npt.NDArray[Any]]:
    """Give sentences by concept and resource as arrays; nothing where there are none."""
    if not sentences:
        return {}
    place = {sentence: k for k, sentence in enumerate(dict.fromkeys(sentences.values()))}
    return {
        "links": np.array(list(sentences), dtype=np.int64),
        "sentence": np.array([place[sentence] for sentence in sentences.values()], dtype=np.int64),
        "text": np.frombuffer("\n".join(place).encode(), dtype=np.uint8),
    }


def unpack_sentences(arrays: Arrays, incidence: SparseMatrix | None) -> dict[tuple[int, int], str]:
    """Give back what `pack_sentences` made arrays of; `incidence` says which links there are."""
    if not arrays:
        return {}
    texts = arrays["text"].tobytes().decode().split("\n")
    links, which = arrays["links"].tolist(), arrays["sentence"].tolist()
    sentences = {(i, j): texts[k] for (i, j), k in zip(links, which, strict=True)}
    linked = set() if incidence is None else set(zip(*incidence.nonzero(), strict=True))
    if not linked.issuperset(sentences) or list(sentences) != sorted(sentences):
        raise BundleError("a sentence is not that of a link of a concept and a resource")
    if not all(0 < len(text) <= MOST and text == on_one_line(text) for text in texts):
        raise BundleError(f"a sentence is empty, longer than {MOST} characters, or on two lines")
    packed = pack_sentences(sentences)
    if arrays.keys() != packed.keys() or any(
        arrays[name].dtype != array.dtype or not np.array_equal(arrays[name], array)
        for name, array in packed.items()
    ):
        raise BundleError("the sentences are not those of a course")
    return sentences


def pack_evidence(evidence: Evidence) -> dict[str, npt.NDArray[Any]]:
    """Give what is known of the concepts as arrays; nothing for what is missing.

    Vectors of resources are left out: a method that needs them keeps what it computes from them.
    """
    arrays = {"evidence/features": evidence.features}
    if evidence.readings is not None:
        arrays["evidence/readings"] = evidence.readings
    for name in MATRICES:
        arrays |= pack_sparse(f"evidence/{name}", getattr(evidence, name))
    return arrays


def unpack_evidence(arrays: Mapping[str, npt.NDArray[Any]]) -> Evidence:
    """Give back what `pack_evidence` made arrays of."""
    return Evidence(
        arrays["evidence/features"],
        readings=arrays.get("evidence/readings"),
        **{name: unpack_sparse(f"evidence/{name}", arrays) for name in MATRICES},
    )
