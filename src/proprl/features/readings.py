"""What a language model makes of a concept's place in a curriculum.

It reads the beginning of a sentence about the concept, and its state where the sentence breaks off
is what it expects next: in which year the concept is taught, or what comes after it. Such states
tell which of two concepts comes first better than vectors of the names do, and better the larger
the model is (docs/reader.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import FeatureError
from proprl.features.encoders import encode_each, resolve_encoder
from proprl.features.language_model import release
from proprl.progress import SILENT, Progress

NOBODY = "none"
"""The reader of those who have none."""

# Naming the subject tells the model which of its meanings a name has: "tree", "kernel". Each
# sentence asks for something else: the time, what comes after, what comes before, the time as
# examples show it, the use.
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


def resolve_reader(reader: str) -> str:
    """Name a reader as it is found from anywhere: a folder by its whole path, others as they are.

    One that cannot be had here is an error; no weights are loaded to find that out.

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
    resolve_encoder(_encoder(reader))
    return reader


def read_concepts(
    names: Sequence[str], subject: str, reader: str, *, progress: Progress = SILENT
) -> FloatArray:
    """Give what the language model makes of each concept's place: one row each.

    `subject` may be empty; a name is enough, descriptions are not read. What was read about a
    concept is kept for every course of the subject.
    """
    encoder = _encoder(resolve_reader(reader))
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
        release()
    return np.stack([read[row] for row in range(len(names))])


def _encoder(reader: str) -> str:
    """Name the encoder that gives a reader's states."""
    return f"language-model:{reader}"
