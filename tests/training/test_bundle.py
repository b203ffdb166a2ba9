"""A bundle on disk: what is refused, and what survives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from proprl.data import LabelledPairs
from proprl.errors import BundleError
from proprl.training import bundle as bundles
from proprl.training.bundle import (
    check_destination,
    pack_labelled,
    read_bundle,
    unpack_labelled,
    write_bundle,
)

CONTENT = {"method": "proprl", "seed": 7}
ARRAYS = {"weights": {"W": np.arange(6.0).reshape(2, 3)}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(tmp_path / "model.proprl", CONTENT, ARRAYS)
    return tmp_path / "model.proprl"


def weights_file(folder: Path) -> Path:
    (path,) = folder.glob("weights-*.safetensors")
    return path


def sign(folder: Path, **changes: object) -> None:
    """Change model.json as somebody would who knows the format."""
    document = json.loads((folder / "model.json").read_text()) | changes
    document.pop("checksum")
    document["checksum"] = bundles._checksum(document)
    (folder / "model.json").write_bytes(bundles._encode(document))


def test_round_trip(folder: Path) -> None:
    content, files = read_bundle(folder)
    assert content["method"] == "proprl"
    np.testing.assert_array_equal(files["weights"]["W"], ARRAYS["weights"]["W"])


def test_the_same_model_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "again", CONTENT, ARRAYS)
    one, other = (
        {path.name: path.read_bytes() for path in each.iterdir()}
        for each in (folder, tmp_path / "again")
    )
    assert "model.json" in one
    assert one == other


def test_every_flipped_byte_of_the_weights_is_noticed(folder: Path) -> None:
    path = weights_file(folder)
    whole = path.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(BundleError, match="does not match its checksum"):
            read_bundle(folder)


def test_every_flipped_byte_of_the_description_is_noticed(folder: Path) -> None:
    path = folder / "model.json"
    whole = path.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(BundleError):
            read_bundle(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    path = weights_file(folder)
    path.unlink()
    with pytest.raises(BundleError, match=f"lacks {path.name}"):
        read_bundle(folder)


def test_a_newer_format_asks_for_an_update(folder: Path) -> None:
    sign(folder, format=bundles.FORMAT + 1)
    with pytest.raises(BundleError, match="update proprl"):
        read_bundle(folder)


def test_an_older_format_asks_to_train_again(folder: Path) -> None:
    sign(folder, format=1)
    with pytest.raises(BundleError, match=r"has format 1.*: train again"):
        read_bundle(folder)


def test_labels_keep_where_they_come_from(tmp_path: Path) -> None:
    labelled = LabelledPairs(
        np.array([[0, 1], [2, 1], [3, 0]]),
        np.array([1, 0, 1]),
        np.array(["drawn", "chosen", "asked"]),
        np.array([0.25, np.nan, np.nan]),
    )
    write_bundle(tmp_path / "m", CONTENT, {"labels": pack_labelled("train", labelled)})
    assert unpack_labelled("train", read_bundle(tmp_path / "m")[1]["labels"]) == labelled


@pytest.mark.parametrize("name", ["../secret.safetensors", "/etc/passwd", "a/b", "..", ""])
def test_a_path_that_leaves_the_folder_is_refused(folder: Path, name: str) -> None:
    sign(folder, files={"weights": {"file": name, "sha256": "0" * 64}})
    with pytest.raises(BundleError, match="leaves the folder"):
        read_bundle(folder)


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    path = weights_file(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match="leaves the folder"):
        read_bundle(folder)


def test_no_such_folder_and_no_model_in_it(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="does not exist"):
        read_bundle(tmp_path / "nothing")
    with pytest.raises(BundleError, match=r"holds no model\.json"):
        read_bundle(tmp_path)


def test_a_new_model_replaces_the_old_one_and_its_files(folder: Path) -> None:
    old = weights_file(folder)
    write_bundle(folder, CONTENT, {"weights": {"W": np.zeros(2)}})
    assert not old.exists()
    np.testing.assert_array_equal(read_bundle(folder)[1]["weights"]["W"], np.zeros(2))


@pytest.mark.parametrize(
    "files",
    [
        None,
        ["weights.safetensors"],
        {"weights": "weights.safetensors"},
        {"weights": {"file": 7, "sha256": "0"}},
        {"weights": {"file": "a"}},
    ],
)
def test_a_signed_description_that_makes_no_sense_is_refused(folder: Path, files: object) -> None:
    sign(folder, files=files)
    with pytest.raises(BundleError, match="lists no files"):
        read_bundle(folder)


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "7", '{"format": -3}', '{"format": "1"}'])
def test_what_is_no_description_at_all_is_refused(folder: Path, text: str) -> None:
    (folder / "model.json").write_text(text)
    with pytest.raises(BundleError):
        read_bundle(folder)


def test_other_peoples_weights_are_never_removed(folder: Path) -> None:
    (folder / "my-data.safetensors").write_text("mine")
    write_bundle(folder, CONTENT, {"weights": {"W": np.zeros(2)}})
    assert (folder / "my-data.safetensors").read_text() == "mine"


@pytest.mark.parametrize("name", ["my-weights.safetensors", "weights.safetensors"])
def test_a_folder_of_other_peoples_weights_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(BundleError, match=f"found {name}"):
        write_bundle(tmp_path, CONTENT, ARRAYS)


def test_somebody_elses_model_json_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"mine": 1}')
    with pytest.raises(BundleError, match="not a model of proprl's"):
        write_bundle(tmp_path, CONTENT, ARRAYS)
    assert (tmp_path / "model.json").read_text() == '{"mine": 1}'


def test_what_a_killed_process_left_is_cleared_away(folder: Path) -> None:
    (folder / ".checkpoint.safetensors.0123abcd.tmp").write_text("half")
    write_bundle(folder, CONTENT, ARRAYS)
    assert not list(folder.glob(".*"))


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BundleError, match=r"found thesis\.txt"):
        check_destination(tmp_path)
    with pytest.raises(BundleError, match="is a file"):
        check_destination(tmp_path / "thesis.txt")
