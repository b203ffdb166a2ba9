"""What a language model makes of a concept's place in a curriculum.

It reads the beginning of a sentence about the concept, and its state where the sentence breaks off
is what it expects next: in which year the concept is taught, or what comes after it. Such states
tell which of two concepts comes first better than vectors of the names do, and better the larger
the model is (docs/sequitur.md).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import FeatureError
from proprl.features.encoders import encode_each, resolve_encoder
from proprl.features.language_model import installed_reader, release
from proprl.progress import SILENT, Progress

NOBODY = "none"
"""The reader of those who have none."""

# Naming the subject tells the model which of its meanings a name has: "tree", "kernel". Each
# sentence asks for something else: the time, what comes after, what comes before, the time as
# examples show it, the use. What they are worth: docs/sequitur.md.
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
# Names that are read, and kept, at a time: what is read once is not lost on Ctrl-C.
AT_ONCE = 32


def resolve_reader(reader: str = "auto") -> str:
    """Concrete name of a reader; "auto" becomes the best there is.

    That is what PROPRL_READER names, else the language model of the extra `reader`, else nobody.

    >>> resolve_reader("none")
    'none'
    """
    named = os.environ.get("PROPRL_READER", "auto") if reader == "auto" else reader
    if named in ("auto", ""):
        return installed_reader() or NOBODY
    if named == "tfidf":
        raise FeatureError("tfidf is no reader: its vectors depend on all texts that it is given")
    family, _, model = named.partition(":")
    # A model is asked again about new concepts, perhaps from another folder.
    return f"{family}:{Path(model).resolve()}" if model and Path(model).exists() else named


def read_concepts(
    names: Sequence[str], subject: str, reader: str, *, progress: Progress = SILENT
) -> FloatArray:
    """Give what the language model makes of each concept's place: one row each.

    `subject` may be empty; a name is enough, descriptions are not read. What was read about a
    concept is kept for every course of the subject.
    """
    reader = resolve_encoder(reader)
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
                encode_each([sentence.format(name=names[row], **words) for row in rows], reader)
                for sentence in SENTENCES
            ]
            read.update(zip(rows, np.hstack(states), strict=True))
            progress.step()
    finally:
        progress.end()
        release()
    return np.stack([read[row] for row in range(len(names))])
