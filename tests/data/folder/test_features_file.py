"""The feature matrix of a course folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from proprl.data import (
    check_course,
    read_course,
)
from small_folder import make_folder, places


class TestFeatures:
    def test_the_matrix_x_is_read(self, tmp_path: Path) -> None:
        features = np.arange(6, dtype=np.float32).reshape(3, 2)
        save_file({"X": features}, make_folder(tmp_path) / "features.safetensors")

        read = read_course(tmp_path).features

        assert read is not None
        assert read.dtype == np.float32
        assert read.tolist() == features.tolist()

    def test_another_tensor(self, tmp_path: Path) -> None:
        save_file({"embeddings": np.eye(3)}, make_folder(tmp_path) / "features.safetensors")

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("features.safetensors", None, None)]
        assert "the tensors found are: embeddings" in errors[0].expected

    def test_a_second_tensor_is_a_warning(self, tmp_path: Path) -> None:
        tensors = {"X": np.eye(3), "Y": np.eye(2)}
        save_file(tensors, make_folder(tmp_path) / "features.safetensors")

        assert places(list(read_course(tmp_path).warnings)) == [
            ("features.safetensors", None, None)
        ]

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not this", b"\xff" * 100])
    def test_not_a_safetensors_file(self, tmp_path: Path, content: bytes) -> None:
        (make_folder(tmp_path) / "features.safetensors").write_bytes(content)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("features.safetensors", None, None)]
        assert "not a safetensors file" in errors[0].expected

    def test_a_type_that_numpy_does_not_know(self, tmp_path: Path) -> None:
        header = b'{"X":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]}}'
        content = len(header).to_bytes(8, "little") + header + bytes(6)
        (make_folder(tmp_path) / "features.safetensors").write_bytes(content)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("features.safetensors", None, None)]
        assert "save `X` as float32" in errors[0].expected

    def test_another_shape(self, tmp_path: Path) -> None:
        save_file({"X": np.eye(4)}, make_folder(tmp_path) / "features.safetensors")

        assert places(check_course(tmp_path)[0]) == [("features.safetensors", None, "X")]
