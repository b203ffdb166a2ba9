"""What a reader makes of a concept's place: which sentences it reads, and who it is.

Wordllama stands in for the language model here, for it is there and quick.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from proprl.arrays import FloatArray
from proprl.data import Course
from proprl.errors import FeatureError, MissingExtraError
from proprl.features import encoders, reader
from proprl.features.encoders import encode
from proprl.features.gather import gather_evidence
from proprl.features.reader import read_concepts, resolve_reader
from proprl.progress import SILENT

READER = "some/model"


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wordllama stands in for the language model, for it is there and quick."""
    monkeypatch.setitem(encoders.LOADERS, "language-model", encoders.LOADERS["wordllama"])


def course(subject: str) -> Course:
    concepts = pl.DataFrame({"id": ["t", "k"], "name": ["Tree", "Kernel"]})
    return Course.from_tables(concepts=concepts, subject=subject)


# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "said", "field"),
    [("botany", "botany ", "botany"), ("  ", "", "the subject"), ("", "", "the subject")],
)
def test_sentences_about_each_concept_are_read_and_name_the_subject(
    subject: str, said: str, field: str
) -> None:
    evidence = gather_evidence(course(subject), "wordllama", reader=READER)[0]
    sentences = [
        f"In a {said}curriculum, NAME is taught in the",
        f"In a {said}curriculum, once students understand NAME, they go on to learn",
        f"In a {said}curriculum, before students can learn NAME, they must first understand",
        f"Topics of a {said}curriculum and when they are taught.\n"
        "Topic: arithmetic. Taught: before university.\n"
        f"Topic: introduction to {field}. Taught: first semester.\n"
        f"Topic: current research in {field}. Taught: graduate seminar.\n"
        "Topic: NAME. Taught:",
        f"In {field}, NAME is a foundation for",
    ]
    texts = [[s.replace("NAME", name) for name in ("Tree", "Kernel")] for s in sentences]
    expected = np.hstack([encode(some, "wordllama") for some in texts])
    np.testing.assert_allclose(evidence.readings, expected, rtol=1e-5)


def test_nobody_reads_unless_asked() -> None:
    assert gather_evidence(course("botany"), "wordllama")[0].readings is None
    assert gather_evidence(course("botany"), "wordllama", reader="none")[0].readings is None


def test_concepts_are_read_a_few_at_a_time_and_keep_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ["a long name", "Limit", "Sum", "Derivative", "Set"]
    together = read_concepts(names, "", READER)
    monkeypatch.setattr(reader, "AT_ONCE", 2)
    steps: list[str] = []
    monkeypatch.setattr(SILENT, "step", lambda: steps.append("step"), raising=False)
    np.testing.assert_allclose(read_concepts(names, "", READER), together, rtol=1e-5)
    assert len(steps) == 3


def test_what_was_read_about_a_concept_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_concepts(["Limit", "a much longer name"], "botany", READER)
    read: list[str] = []
    embedded = encoders._embedded

    def watched(encoder: encoders.Encoder, name: str, texts: list[str]) -> FloatArray:
        read.extend(texts)
        return embedded(encoder, name, texts)

    monkeypatch.setattr(encoders, "_embedded", watched)
    more = read_concepts(["Tree", "Limit", "a much longer name"], "botany", READER)
    assert len(read) == len(reader.SENTENCES)
    assert all("Tree" in sentence for sentence in read)
    np.testing.assert_array_equal(more[1:], first)

    for subject, other in (("", READER), ("botany", "another/model")):
        read.clear()
        read_concepts(["Limit"], subject, other)
        assert len(read) == len(reader.SENTENCES)


# --- who reads ------------------------------------------------------------------------------------


def test_a_folder_is_found_again_from_elsewhere_and_comes_before_a_name_on_the_hub(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "some" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    here = str((tmp_path / "some" / "model").resolve())
    for name in ("some/model", "./some/../some/model", "~/some/model", here):
        assert resolve_reader(name) == here
    assert resolve_reader("another/model") == "another/model"


@pytest.mark.parametrize("name", ["", " ", "./nowhere", "/no/where", "~/nowhere", "weights.gguf"])
def test_what_can_only_be_a_folder_and_is_none_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "weights.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FeatureError, match="is no folder: give the folder that holds") as raised:
        resolve_reader(name)
    assert repr(name) in str(raised.value)


@pytest.mark.parametrize("name", ["nofolder", "my/own/folder"])
def test_what_is_neither_a_folder_nor_a_name_on_the_hub_fails_without_a_network(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "resolve_encoder", None)  # calling it would fail
    with pytest.raises(FeatureError) as raised:
        resolve_reader(name)
    assert str(raised.value) == (
        f"there is no folder {name}; a name on the hub has the form owner/model"
    )


def test_a_missing_extra_is_found_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(encoders.LOADERS, "language-model", encoders._load_language_model)
    monkeypatch.setattr(reader, "find_spec", lambda _: None)
    monkeypatch.setattr("proprl.features.gather.encode", None)  # calling it would fail
    with pytest.raises(MissingExtraError, match=r"model some/model .*proprl\[reader\]"):
        gather_evidence(course("botany"), "wordllama", reader=READER)
