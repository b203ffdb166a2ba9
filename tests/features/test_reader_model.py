"""A language model reads a text, and its state afterwards is the text's vector."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proprl.errors import FeatureError, MissingExtraError
from proprl.features import reader as reader_module
from proprl.features.encoders import encode, resolve_encoder
from tiny_model import alphabet, save_tiny_model

TEXTS = [
    "limits of functions are taught before derivatives of functions",
    "limits",
    "integrals of functions",
    "derivatives are taught before integrals",
    "functions",
]
LAYERS = 7  # states 4 and 5 are taken
WIDTH = 16


def save_model(folder: Path, kind: str = "qwen2", seed: int = 0, **changes: Any) -> str:
    """Encoder of a small model with random weights and a token for each letter."""
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, **changes}
    return f"language-model:{save_tiny_model(folder, kind, seed, **sizes)}"


def worked_out(folder: Path, text: str) -> np.ndarray:
    """Vector of `text` from the whole model with its head, one text at a time."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    letters = alphabet()  # in which "Ġ" stands for a space
    ids = torch.tensor([[letters.index(letter) for letter in text.replace(" ", "Ġ")]])
    with torch.no_grad():
        states = model(input_ids=ids, output_hidden_states=True).hidden_states
    assert len(states) == LAYERS + 1
    fourth, fifth = (states[layer][0, -1].numpy() for layer in (4, 5))
    return fourth / np.linalg.norm(fourth) / 2 + fifth / np.linalg.norm(fifth) / 2


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["language-model", "language-model:"])
def test_a_family_without_its_model_is_unknown(name: str) -> None:
    with pytest.raises(FeatureError, match="language-model:<name or folder>"):
        resolve_encoder(name)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'proprl\[reader\]'") as raised:
        encode(TEXTS, "language-model:some/model")
    assert "the language model some/model" in str(raised.value)


# --- vectors --------------------------------------------------------------------------------------


@pytest.mark.reader
@pytest.mark.parametrize("kind", ["qwen2", "llama", "gpt2"])
def test_the_vector_is_the_mean_of_the_last_tokens_two_middle_states(
    kind: str, tmp_path: Path
) -> None:
    X = encode(TEXTS, save_model(tmp_path / "model", kind))
    assert X.dtype == np.float32
    expected = np.stack([worked_out(tmp_path / "model", text) for text in TEXTS])
    # The rows tell the texts apart far beyond the tolerance, so order is part of this.
    np.testing.assert_allclose(X, expected, atol=1e-5)
    assert np.abs(X[0] - X[1]).max() > 0.05


@pytest.mark.reader
@pytest.mark.parametrize("kind", ["qwen2", "llama", "gpt2"])
def test_a_text_has_the_same_vector_in_any_company(kind: str, tmp_path: Path) -> None:
    encoder = save_model(tmp_path / "model", kind)
    texts = [*TEXTS, " ".join(TEXTS * 3)]
    apart = np.concatenate([encode([text], encoder, cache=False) for text in texts])
    for order in ([0, 1, 2, 3, 4, 5], [5, 1, 0, 3, 2, 4]):
        X = encode([texts[row] for row in order] * 15, encoder, cache=False)
        np.testing.assert_allclose(X, np.tile(apart[order], (15, 1)), atol=1e-5)


def sentences(names: list[str]) -> list[str]:
    return [f"in a course {name} is taught" for name in names]


@pytest.mark.reader
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("qwen2", {}),
        ("gpt2", {}),
        ("mistral", {"sliding_window": 8}),  # sees only what is near
        ("mpt", {"d_model": WIDTH, "n_heads": 2, "n_layers": LAYERS}),  # by how far back it is
        ("lfm2", {}),  # keeps more than keys and values
    ],
)
@pytest.mark.parametrize(
    "texts",
    [
        sentences(["limits", "integrals of functions", "sets"]),
        ["in a course", "in a course of functions", "in a course of"],  # one begins all others
        ["limits", "limits"],
    ],
)
def test_what_all_texts_begin_with_changes_nothing(
    kind: str, changes: dict[str, Any], texts: list[str], tmp_path: Path
) -> None:
    X = encode(texts, save_model(tmp_path / "model", kind, **changes), cache=False)
    expected = np.stack([worked_out(tmp_path / "model", text) for text in texts])
    np.testing.assert_allclose(X, expected, atol=1e-5)


@pytest.mark.reader
def test_what_all_texts_begin_with_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, read = save_model(tmp_path / "model"), []
    reader = reader_module._language_model(str(tmp_path / "model"), resolve_version(encoder))
    forward = reader.decoder.forward

    def watched(input_ids: Any, **inputs: Any) -> Any:
        read.append(tuple(input_ids.shape))
        return forward(input_ids=input_ids, **inputs)

    monkeypatch.setattr(reader.decoder, "forward", watched)
    encode(sentences(["limits", "sets"]), encoder, cache=False)
    beginning, rest = len("in a course "), len("limits is taught")
    assert read == [(1, beginning), (2, rest)]


@pytest.mark.reader
def test_leaving_out_the_upper_layers_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = save_model(tmp_path / "model")
    cut = encode(TEXTS, encoder, cache=False)
    reader = reader_module._language_model(str(tmp_path / "model"), resolve_version(encoder))
    assert len(reader.decoder.layers) == 6  # of seven; the sixth keeps the final norm off state 5
    reader_module._language_model.cache_clear()
    monkeypatch.setattr(reader_module, "_drop_layers_above", lambda *_: None)
    np.testing.assert_array_equal(encode(TEXTS, encoder, cache=False), cut)


def resolve_version(encoder: str) -> str:
    version = reader_module.load(encoder.partition(":")[2]).version
    assert version is not None
    return version


@pytest.mark.parametrize(("count", "layers"), [(28, (16, 20)), (7, (4, 5)), (1, (1, 1))])
def test_the_middle_layers_are_four_and_five_sevenths_up(count: int, layers: object) -> None:
    assert reader_module._middle_layers(count) == layers


@pytest.mark.reader
def test_a_long_text_is_cut_with_a_warning(tmp_path: Path) -> None:
    encoder = save_model(tmp_path / "model")
    text = " ".join(TEXTS * 8)
    with pytest.warns(UserWarning, match="1 of 2 texts are longer than the 512 tokens") as caught:
        X = encode([text, "limits"], encoder)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(X[:1], encode([text[:512]], encoder), atol=1e-5)


@pytest.mark.reader
def test_a_folder_gives_new_vectors_once_its_model_changed(own_cache: Path, tmp_path: Path) -> None:
    encoder = save_model(tmp_path / "model")
    before = encode(TEXTS, encoder)
    np.testing.assert_array_equal(encode(TEXTS, encoder), before)
    save_model(tmp_path / "model", seed=1)
    assert np.abs(encode(TEXTS, encoder) - before).max() > 0.05
    assert len(list(own_cache.glob("features/*.safetensors"))) == 2


@pytest.mark.reader
def test_loading_says_nothing_and_leaves_the_users_settings(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    encoder = save_model(tmp_path / "model")
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    capfd.readouterr()
    encode(TEXTS, encoder)
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


# --- models that cannot be read -------------------------------------------------------------------


@pytest.mark.reader
@pytest.mark.parametrize("folder", ["empty", "missing/from/here"])
def test_a_wrong_folder_is_named_with_the_remedy(folder: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FeatureError, match="cannot be loaded") as raised:
        encode(TEXTS, f"language-model:{tmp_path / folder}")
    assert str(tmp_path / folder) in str(raised.value)
    assert "a name on the Hugging Face hub and a network" in str(raised.value)


@pytest.mark.reader
def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    encoder = save_model(tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(FeatureError, match="cannot be loaded"):
        encode(TEXTS, encoder)


@pytest.mark.reader
def test_weights_that_lack_a_layer_are_refused_and_not_made_up(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    encoder = save_model(tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    kept = {name: w for name, w in load_file(weights).items() if ".3.mlp.up_proj" not in name}
    save_file(kept, weights, metadata={"format": "pt"})
    with pytest.raises(FeatureError, match=r"no weights for layers\.3\.mlp\.up_proj"):
        encode(TEXTS, encoder)


@pytest.mark.reader
def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    encoder = save_model(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").rename(tmp_path / "model" / "pytorch_model.bin")
    with pytest.raises(FeatureError, match="safetensors"):
        encode(TEXTS, encoder)


@pytest.mark.reader
def test_a_sentence_model_is_refused_as_it_reads_in_both_directions(tmp_path: Path) -> None:
    with pytest.raises(FeatureError, match="no causal language model"):
        encode(TEXTS, save_model(tmp_path / "model", "bert"))


def test_a_text_without_tokens_is_named() -> None:
    with pytest.raises(FeatureError, match="no token for any of '\\\\u200b'"):
        reader_module._check_tokens("some/model", [[1], []], ["limits", "\u200b"])
