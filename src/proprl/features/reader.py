"""The reader: a language model, and what it makes of a concept's place in a curriculum.

It reads the beginning of a sentence about the concept. Where the sentence breaks off, its state
says what it expects next: after "..., Limits is taught in the" it says how early limits are taught.
Such states tell which of two concepts comes first better than vectors of the names do, and better
the larger the model (docs/reader.md).

A text's vector is the state of its last token. The first layers still hold the words, and the last
ones already the next token. So it is taken between: the mean of two middle layers, each scaled to
length one. Of the layers tried, these told best on validation pairs which concept comes first.

The encoder ``language-model:<model>`` takes a folder that transformers saved, which needs no
network, or a name on the Hugging Face hub. The model runs on the CPU in single precision: one of
1.5 billion parameters takes about 6 GB of memory. The vectors are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import metadata
from importlib.util import find_spec
from inspect import signature
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import FeatureError, MissingExtraError
from proprl.features.encoders import Encoder, batches_of_like_length, encode_each, resolve_encoder
from proprl.features.sentence_transformers import fingerprint, loading, warn_of_cut_texts
from proprl.progress import SILENT, Progress

REVISION = 2
"""Goes up when the vectors of the same weights change, so that none are taken from the cache."""

BATCH_TEXTS = 32
# The states of all layers are held for every token of a batch: this bounds them to 0.6 GB.
BATCH_TOKENS = 4_096
LIMIT = 512

NOBODY = "none"
"""The name of no reader."""

# The subject tells the model what a name means: "tree", "kernel". Each sentence asks for something
# else: the time, what comes after, what comes before, the time as examples show it, the use.
SENTENCES = (
    "In a {subject}curriculum, {name} is taught in the",
    "In a {subject}curriculum, once students understand {name}, they go on to learn",
    "In a {subject}curriculum, before students can learn {name}, they must first understand",
    "Topics of a {subject}curriculum and when they are taught.\n"
    "Topic: arithmetic. Taught: before university.\n"
    "Topic: introduction to {field}. Taught: first semester.\n"
    "Topic: current research in {field}. Taught: graduate seminar.\n"
    "Topic: {name}. Taught:",
    "In {field}, {name} is a foundation for",
)
# So many names are read, and then kept, at a time: Ctrl-C loses no more than these.
AT_ONCE = 32


def resolve_reader(reader: str) -> str:
    """Return the reader's name as it is found from anywhere: a folder becomes its whole path.

    One that cannot be had here is an error. No weights are loaded to find that out.

    >>> resolve_reader("none")
    'none'
    """
    if reader == NOBODY:
        return NOBODY
    folder = Path(reader).expanduser()
    if reader.strip() and folder.is_dir():
        reader = str(folder.resolve())
    elif not reader.strip() or folder.is_file() or folder.is_absolute() or reader[0] in ".~":
        raise FeatureError(
            f"the reader {reader!r} is no folder: give the folder that holds a language model, or "
            "its name on the Hugging Face hub, such as Qwen/Qwen2.5-1.5B"
        )
    elif reader.count("/") != 1:  # the hub need not be asked
        raise FeatureError(
            f"there is no folder {reader}; a name on the hub has the form owner/model"
        )
    resolve_encoder(f"language-model:{reader}")
    return reader


def read_concepts(
    names: Sequence[str], subject: str, reader: str, *, progress: Progress = SILENT
) -> FloatArray:
    """Give what the language model makes of each concept's place: one row each.

    `subject` may be empty. Names are enough: descriptions are not read. What was read about a
    concept is kept, for every course of the subject.
    """
    encoder = f"language-model:{resolve_reader(reader)}"
    field = subject.strip()
    words = {"subject": f"{field} " if field else "", "field": field or "the subject"}
    by_length = sorted(range(len(names)), key=lambda row: len(names[row]))
    chunks = [by_length[start : start + AT_ONCE] for start in range(0, len(names), AT_ONCE)]
    progress.begin("language model", len(chunks))
    progress.note("the first time takes minutes; what was read is kept")
    read: dict[int, FloatArray] = {}
    try:
        for rows in chunks:
            states = [
                encode_each([sentence.format(name=names[row], **words) for row in rows], encoder)
                for sentence in SENTENCES
            ]
            read.update(zip(rows, np.hstack(states), strict=True))
            progress.step()
    finally:
        progress.end()
        _language_model.cache_clear()  # gigabytes; what it read is kept
    return np.stack([read[row] for row in range(len(names))])


def load(model: str) -> Encoder:
    """Return the encoder for what stands after ``language-model:``."""
    if find_spec("transformers") is None:
        raise MissingExtraError(f"the language model {model}", "reader")
    version = f"{metadata.version('transformers')} {REVISION}{fingerprint(model)}"
    return Encoder(partial(_embed, model, version), version)


# --- the model ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LanguageModel:
    """A loaded model, cut off above the last of the `layers` whose states are taken."""

    decoder: Any
    tokenizer: Any
    layers: tuple[int, int]
    limit: int


@lru_cache(maxsize=1)
def _language_model(model: str, version: str) -> LanguageModel:  # noqa: ARG001 (part of the key)
    with loading(
        f"the language model {model!r}",
        "Give a folder in which transformers saved the model and its tokenizer, the weights as "
        "safetensors, or a name on the Hugging Face hub and a network that reaches it",
    ):
        return _loaded(model)


def _loaded(model: str) -> LanguageModel:
    import torch
    from transformers import AutoModel, AutoTokenizer

    here = Path(model).is_dir()  # then no network is asked for anything
    tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=here)
    decoder, report = AutoModel.from_pretrained(
        model,
        dtype=torch.float32,
        output_loading_info=True,
        use_safetensors=True,  # other formats are pickles, which can run code
        local_files_only=here,
    )
    if report["missing_keys"]:  # transformers would go on with random numbers in their place
        raise FeatureError(f"it has no weights for {min(report['missing_keys'])}")
    decoder.eval()
    decoder.config.use_cache = False
    layers = _middle_layers(decoder.config.num_hidden_layers)
    _drop_layers_above(decoder, layers[1])
    _check_causal(decoder)
    positions = getattr(decoder.config, "max_position_embeddings", None) or LIMIT
    return LanguageModel(decoder, tokenizer, layers, min(LIMIT, positions))


def _middle_layers(count: int) -> tuple[int, int]:
    """Give which two of the states between `count` layers are taken; 0 is before the first."""
    return round(4 * count / 7), round(5 * count / 7)


def _drop_layers_above(decoder: Any, state: int) -> None:
    """Leave out the layers that `state` does not depend on, if the architecture allows it."""
    layers = getattr(decoder, "layers", None)
    if layers is not None:
        # One more than needed: the last state is given after the final norm, the others before it.
        decoder.layers = layers[: state + 1]
        decoder.config.num_hidden_layers = len(decoder.layers)


def _check_causal(decoder: Any) -> None:
    """Raise if a token's state depends on a later one, as in models made for sentences."""
    import torch

    with torch.inference_mode():
        one, other = decoder(**_inputs(decoder, [[0, 1], [0, 2]])).last_hidden_state[:, 0]
    if float((one - other).norm()) > 1e-4 * float(one.norm()):
        raise FeatureError("it is no causal language model: it reads in both directions")


# --- reading --------------------------------------------------------------------------------------


def _embed(model: str, version: str, texts: list[str]) -> FloatArray:
    reader = _language_model(model, version)
    tokens = reader.tokenizer(texts, verbose=False)["input_ids"]
    _check_tokens(model, tokens, texts)
    warn_of_cut_texts([*map(len, tokens)], reader.limit, f"language-model:{model}")
    tokens = [ids[: reader.limit] for ids in tokens]
    X = np.empty((len(texts), reader.decoder.config.hidden_size), dtype=np.float32)
    beginning = _read_beginning(reader, tokens)
    for rows in batches_of_like_length([*map(len, tokens)], BATCH_TOKENS, BATCH_TEXTS):
        X[rows] = _read(reader, [tokens[row][beginning.length :] for row in rows], beginning)
    return X


def _check_tokens(model: str, tokens: list[list[int]], texts: list[str]) -> None:
    for ids, text in zip(tokens, texts, strict=True):
        if not ids:
            raise FeatureError(f"the language model {model!r} has no token for any of {text!r}")


@dataclass(frozen=True)
class Beginning:
    """How many tokens all texts begin with, and what the model keeps of having read them."""

    length: int = 0
    kept: Any = None

    def inputs(self, texts: int) -> dict[str, Any]:
        """Give what the model needs to go on in so many texts: a copy, for it writes into that."""
        if self.kept is None:
            return {}
        kept = deepcopy(self.kept)
        kept.batch_repeat_interleave(texts)
        return {"past_key_values": kept, "use_cache": True}


def _read_beginning(reader: LanguageModel, tokens: list[list[int]]) -> Beginning:
    """Read once what all texts begin with: they are mostly one sentence about many concepts."""
    import torch

    least, most = min(tokens), max(tokens)  # what these two begin with, all others between do
    alike = (one == other for one, other in zip(least, most, strict=False))
    shared = min(sum(takewhile(bool, alike)), min(map(len, tokens)) - 1)
    if len(tokens) == 1 or not shared:
        return Beginning()
    with torch.inference_mode():
        read = reader.decoder(**_inputs(reader.decoder, [least[:shared]]), use_cache=True)
    kept = getattr(read, "past_key_values", None)
    return Beginning(shared, kept) if _keeps_keys_and_values(kept) else Beginning()


def _keeps_keys_and_values(kept: Any) -> bool:
    """Whether it can be repeated for many texts. Some models keep something else, which cannot."""
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    layers = {type(layer) for layer in getattr(kept, "layers", ())}
    return bool(layers) and layers <= {DynamicLayer, DynamicSlidingWindowLayer}


def _read(reader: LanguageModel, tokens: list[list[int]], beginning: Beginning) -> FloatArray:
    """Give the mean of the last token's states at two middle layers, each of length one."""
    import torch

    ends = torch.tensor([len(found) - 1 for found in tokens])
    with torch.inference_mode():
        inputs = _inputs(reader.decoder, tokens, beginning.length)
        inputs |= beginning.inputs(len(tokens))
        states = reader.decoder(**inputs, output_hidden_states=True).hidden_states
        last = torch.stack([states[layer][range(len(ends)), ends] for layer in reader.layers])
        return np.asarray((last / last.norm(dim=2, keepdim=True)).mean(dim=0))


def _inputs(decoder: Any, tokens: list[list[int]], already_read: int = 0) -> dict[str, Any]:
    """Give inputs in which every text goes on after `already_read` tokens.

    Shorter texts are filled up at their end, which no token before it can see. If they were filled
    up in between, a model that counts how far back a token stands would count the filling too.
    """
    import torch

    width = max(map(len, tokens))
    ids = torch.zeros((len(tokens), width), dtype=torch.long)  # any token: the mask hides it
    mask = torch.ones((len(tokens), already_read + width), dtype=torch.long)
    for row, found in enumerate(tokens):
        ids[row, : len(found)] = torch.tensor(found)
        mask[row, already_read + len(found) :] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    # Some architectures work out positions from the mask and take none.
    if "position_ids" in signature(decoder.forward).parameters:
        places = torch.arange(already_read, already_read + width)
        inputs["position_ids"] = places.expand(len(tokens), -1)
    return inputs
