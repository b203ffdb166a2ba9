"""A language model made on the spot: random weights, a token for each byte, a folder of 200 kB."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def save_tiny_model(folder: Path, kind: str = "qwen2", seed: int = 0, **changes: Any) -> Path:
    """Save a model with two layers, unless `changes` say otherwise, and its tokenizer."""
    require_transformers()
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

    sizes = {
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "initializer_range": 0.3,
        "max_position_embeddings": 600,
    }
    config = AutoConfig.for_model(kind, **{**sizes, **changes})
    torch.manual_seed(seed)
    # A sentence model is saved without a head; reading one must fail for what it is.
    build = AutoModel if kind == "bert" else AutoModelForCausalLM
    build.from_config(config).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def alphabet() -> list[str]:
    """The letters by which a tokenizer of bytes writes them; a letter's place is its token."""
    from tokenizers import pre_tokenizers

    return sorted(pre_tokenizers.ByteLevel.alphabet())


def save_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {letter: index for index, letter in enumerate(alphabet())}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)


def require_transformers() -> None:
    """Skip the test where the extra `reader` is not installed; fail where it has to be."""
    if find_spec("transformers") is None:
        reason = "the extra `reader` is not installed"
        pytest.fail(reason) if os.environ.get("PROPRL_CI") else pytest.skip(reason)
