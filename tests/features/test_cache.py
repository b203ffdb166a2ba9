"""Vectors are kept by content, checked when read, and never a reason to fail."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proprl.features import cache
from proprl.features.encoders import encode

TEXTS = ["Limits", "Derivatives", "Integrals"]


def kept_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def test_the_folder_is_the_users_unless_the_environment_says_otherwise(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache.cache_folder() == own_cache
    monkeypatch.setenv("PROPRL_CACHE", "~/elsewhere")
    assert cache.cache_folder() == Path.home() / "elsewhere"
    monkeypatch.setenv("PROPRL_CACHE", "")
    assert cache.cache_folder() == platformdirs.user_cache_path("proprl")
    monkeypatch.delenv("PROPRL_CACHE")
    assert cache.cache_folder() == platformdirs.user_cache_path("proprl")


def test_vectors_come_back_as_they_were_kept() -> None:
    X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    assert cache.read("k") is None
    cache.write("k", X)
    kept = cache.read("k")
    assert kept is not None
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, X)
    kept += 1  # a caller may change its own copy


@given(
    first=st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    second=st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
)
def test_different_texts_have_different_keys(first: list[str], second: list[str]) -> None:
    same = cache.cache_key("e", "1", first) == cache.cache_key("e", "1", second)
    assert same == (first == second)


def test_the_key_tells_apart_what_only_concatenates_alike() -> None:
    assert cache.cache_key("e", "1", ["ab", ""]) != cache.cache_key("e", "1", ["a", "b"])
    assert cache.cache_key("e", "1", ["a"]) != cache.cache_key("e", "2", ["a"])
    assert cache.cache_key("e", "1", ["a"]) != cache.cache_key("f", "1", ["a"])


def test_a_second_call_reads_what_the_first_one_kept(own_cache: Path) -> None:
    first = encode(TEXTS, "wordllama")
    (file,) = own_cache.glob("features/*.safetensors")
    written = file.stat().st_mtime_ns
    np.testing.assert_array_equal(encode(TEXTS, "wordllama"), first)
    assert file.stat().st_mtime_ns == written
    assert [f for f in kept_files(own_cache) if f.is_file()] == [file]  # no temporary file is left

    encode(TEXTS[::-1], "wordllama")
    assert len(list(own_cache.glob("features/*.safetensors"))) == 2


def test_without_the_cache_nothing_is_kept(own_cache: Path) -> None:
    encode(TEXTS, "wordllama", cache=False)
    encode(TEXTS, "tfidf")  # cheap: never kept
    assert kept_files(own_cache) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:0],
        lambda data: b"not vectors at all" + data,
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    ],
    ids=["empty", "foreign", "cut short", "one bit"],
)
def test_a_damaged_file_is_replaced(own_cache: Path, damage) -> None:
    right = encode(TEXTS, "wordllama")
    (file,) = own_cache.glob("features/*.safetensors")
    intact = file.read_bytes()
    file.write_bytes(damage(intact))
    np.testing.assert_array_equal(encode(TEXTS, "wordllama"), right)
    assert file.read_bytes() == intact


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_no_changed_bit_gives_wrong_vectors(own_cache: Path, position: int, bit: int) -> None:
    X = np.arange(6, dtype=np.float32).reshape(2, 3)
    cache.write("k", X)
    file = own_cache / "features" / "k.safetensors"
    data = bytearray(file.read_bytes())
    data[position % len(data)] ^= 1 << bit
    file.write_bytes(data)
    kept = cache.read("k")
    assert kept is None or np.array_equal(kept, X)


def test_a_folder_that_cannot_be_written_is_warned_of_once(own_cache: Path) -> None:
    own_cache.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="PROPRL_CACHE") as warned:
        X = encode(TEXTS, "wordllama")
    assert X.shape == (3, 256)
    assert str(own_cache) in str(warned[0].message)
    assert warned[0].filename == __file__  # it points at the caller
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(TEXTS, "wordllama")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are a POSIX thing")
def test_a_full_disk_costs_a_warning_and_leaves_nothing_behind(own_cache: Path) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.warns(UserWarning, match="cannot write"):
            cache.write("k", np.zeros((1_000, 8), dtype=np.float32))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((own_cache / "features").iterdir()) == []
