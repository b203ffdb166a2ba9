"""A text's vector is the state of a causal language model that has just read it.

What a model expects to come next depends on what it knows about what it read: after "..., Limits
is taught in the" its state says how early limits are taught. The first layers still hold the words
and the last ones already the next token, so the vector is taken between: the mean of two middle
layers, each scaled to length one. Among the layers tried these told best, on validation pairs,
which of two concepts comes first.

``language-model:<model>`` takes a folder that transformers saved, which needs no network, or a name
on the Hugging Face hub. The model runs on the CPU in single precision: one of 1.5 billion
parameters takes about 6 GB of memory. The vectors are kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
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
from proprl.features.encoders import Encoder, _fingerprint
from proprl.features.quiet import quiet_transformers

REVISION = 2
"""Goes up when the vectors of the same weights change, so that none are taken from the cache."""

BATCH_TEXTS = 32
# The states of all layers are held for every token of a batch: this bounds them to 0.6 GB.
BATCH_TOKENS = 4_096
LIMIT = 512


def load(model: str) -> Encoder:
    """Encoder for what stands after ``language-model:``; its weights are loaded when it embeds."""
    if find_spec("transformers") is None:
        raise MissingExtraError(f"the language model {model}", "reader")
    version = f"{metadata.version('transformers')} {REVISION}"
    if Path(model).is_dir():
        version += f" {_fingerprint(Path(model))}"
    return Encoder(partial(_embed, model, version), version)


def release() -> None:
    """Give the memory of a loaded model back: gigabytes, and what it read is kept."""
    _language_model.cache_clear()


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
    try:
        with quiet_transformers():
            return _loaded(model)
    # transformers raises OSError, ValueError, KeyError, ImportError and more, by model and version.
    except Exception as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise FeatureError(
            f"the language model {model!r} cannot be loaded: {reason.rstrip('.')}. "
            "Give a folder in which transformers saved the model and its tokenizer, the weights as "
            "safetensors, or a name on the Hugging Face hub and a network that reaches it"
        ) from error


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
    """Which two of the states between `count` layers are taken; state 0 is before the first."""
    return round(4 * count / 7), round(5 * count / 7)


def _drop_layers_above(decoder: Any, state: int) -> None:
    """Leave out the layers that `state` does not depend on, where the architecture allows it."""
    layers = getattr(decoder, "layers", None)
    if layers is not None:
        # One more than needed: the last state is given after the final norm, the others before it.
        decoder.layers = layers[: state + 1]
        decoder.config.num_hidden_layers = len(decoder.layers)


def _check_causal(decoder: Any) -> None:
    """Raise if a token's state depends on the one after it, as in models made for sentences."""
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
    _warn_of_cut_texts(model, tokens, reader.limit)
    tokens = [ids[: reader.limit] for ids in tokens]
    X = np.empty((len(texts), reader.decoder.config.hidden_size), dtype=np.float32)
    beginning = _read_beginning(reader, tokens)
    for rows in _batches(tokens):
        X[rows] = _read(reader, [tokens[row][beginning.length :] for row in rows], beginning)
    return X


def _check_tokens(model: str, tokens: list[list[int]], texts: list[str]) -> None:
    for ids, text in zip(tokens, texts, strict=True):
        if not ids:
            raise FeatureError(f"the language model {model!r} has no token for any of {text!r}")


def _warn_of_cut_texts(model: str, tokens: list[list[int]], limit: int) -> None:
    cut = sum(len(ids) > limit for ids in tokens)
    if cut:
        warnings.warn(
            f"{cut} of {len(tokens)} texts are longer than the {limit} tokens that "
            f"language-model:{model} reads; the rest of each is ignored",
            stacklevel=5,
        )


def _batches(tokens: list[list[int]]) -> Iterator[list[int]]:
    """Rows in batches of like length: what is added to make them equally long is little."""
    batch: list[int] = []
    for row in sorted(range(len(tokens)), key=lambda row: len(tokens[row])):
        padded = (len(batch) + 1) * len(tokens[row])
        if batch and (len(batch) == BATCH_TEXTS or padded > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(row)
    yield batch


@dataclass(frozen=True)
class Beginning:
    """So many tokens that all texts begin with, and what the model keeps of having read them."""

    length: int = 0
    kept: Any = None

    def inputs(self, texts: int) -> dict[str, Any]:
        """What the model takes to go on from here in so many texts; it writes into what it gets."""
        if self.kept is None:
            return {}
        kept = deepcopy(self.kept)
        kept.batch_repeat_interleave(texts)
        return {"past_key_values": kept, "use_cache": True}


def _read_beginning(reader: LanguageModel, tokens: list[list[int]]) -> Beginning:
    """Read what all texts begin with once: they are mostly one sentence about many concepts."""
    import torch

    least, most = min(tokens), max(tokens)  # in the order of words: between them all others stand
    alike = (one == other for one, other in zip(least, most, strict=False))
    shared = min(sum(takewhile(bool, alike)), min(map(len, tokens)) - 1)
    if len(tokens) == 1 or not shared:
        return Beginning()
    with torch.inference_mode():
        read = reader.decoder(**_inputs(reader.decoder, [least[:shared]]), use_cache=True)
    kept = getattr(read, "past_key_values", None)
    return Beginning(shared, kept) if _keeps_keys_and_values(kept) else Beginning()


def _keeps_keys_and_values(kept: Any) -> bool:
    """Whether it can be repeated for many texts; what else models keep cannot, or only in part."""
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    layers = {type(layer) for layer in getattr(kept, "layers", ())}
    return bool(layers) and layers <= {DynamicLayer, DynamicSlidingWindowLayer}


def _read(reader: LanguageModel, tokens: list[list[int]], beginning: Beginning) -> FloatArray:
    """Unit states of the last token at the two middle layers, and of these the mean."""
    import torch

    ends = torch.tensor([len(found) - 1 for found in tokens])
    with torch.inference_mode():
        inputs = _inputs(reader.decoder, tokens, beginning.length)
        inputs |= beginning.inputs(len(tokens))
        states = reader.decoder(**inputs, output_hidden_states=True).hidden_states
        last = torch.stack([states[layer][range(len(ends)), ends] for layer in reader.layers])
        return np.asarray((last / last.norm(dim=2, keepdim=True)).mean(dim=0))


def _inputs(decoder: Any, tokens: list[list[int]], already_read: int = 0) -> dict[str, Any]:
    """Inputs in which every text goes on where so many tokens were read already.

    Shorter ones are filled up at their end, which no token before it can see: in between, a model
    that counts how far back a token stands would count what fills the gap.
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
