"""What a reader makes of a concept's place: which sentences it reads, and who it is.

Any encoder can read; wordllama does here, for it is there and quick.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from proprl.arrays import FloatArray
from proprl.data import Course
from proprl.errors import FeatureError
from proprl.features import encoders, readings
from proprl.features.encoders import encode
from proprl.features.evidence import gather_evidence
from proprl.features.readings import read_concepts, resolve_reader
from proprl.progress import SILENT


def course(subject: str) -> Course:
    concepts = pl.DataFrame({"id": ["t", "k"], "name": ["Tree", "Kernel"]})
    return Course.from_tables(concepts=concepts, subject=subject)


@pytest.mark.parametrize(
    ("subject", "said", "field"),
    [("botany", "botany ", "botany"), ("  ", "", "the subject"), ("", "", "the subject")],
)
def test_sentences_about_each_concept_are_read_and_name_the_subject(
    subject: str, said: str, field: str
) -> None:
    evidence = gather_evidence(course(subject), "wordllama", reader="wordllama")[0]
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


def test_without_a_reader_there_are_no_readings() -> None:
    assert gather_evidence(course("botany"), "wordllama")[0].readings is None


def test_concepts_are_read_a_few_at_a_time_and_keep_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ["a long name", "Limit", "Sum", "Derivative", "Set"]
    together = read_concepts(names, "", "wordllama")
    monkeypatch.setattr(readings, "AT_ONCE", 2)
    steps: list[str] = []
    monkeypatch.setattr(SILENT, "step", lambda: steps.append("step"), raising=False)
    np.testing.assert_allclose(read_concepts(names, "", "wordllama"), together, rtol=1e-5)
    assert len(steps) == 3


def test_what_was_read_about_a_concept_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_concepts(["Limit", "a much longer name"], "botany", "wordllama")
    read: list[str] = []
    embedded = encoders._embedded

    def watched(encoder: encoders.Encoder, name: str, texts: list[str]) -> FloatArray:
        read.extend(texts)
        return embedded(encoder, name, texts)

    monkeypatch.setattr(encoders, "_embedded", watched)
    more = read_concepts(["Tree", "Limit", "a much longer name"], "botany", "wordllama")
    assert len(read) == len(readings.SENTENCES)
    assert all("Tree" in sentence for sentence in read)
    np.testing.assert_array_equal(more[1:], first)

    read.clear()
    read_concepts(["Limit"], "", "wordllama")
    assert len(read) == len(readings.SENTENCES)  # of another subject other sentences are read


def test_the_best_reader_is_named_by_the_environment_else_the_one_that_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROPRL_READER", "wordllama")
    assert resolve_reader("auto") == "wordllama"
    assert resolve_reader("none") == "none"
    for unset in ("", "auto"):
        monkeypatch.setenv("PROPRL_READER", unset)
        monkeypatch.setattr(readings, "installed_reader", lambda: None)
        assert resolve_reader("auto") == "none"
    monkeypatch.delenv("PROPRL_READER")
    monkeypatch.setattr(readings, "installed_reader", lambda: "language-model:that one")
    assert resolve_reader("auto") == "language-model:that one"
    monkeypatch.setattr(readings, "installed_reader", lambda: None)
    assert resolve_reader("auto") == "none"


def test_a_folder_is_found_again_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve_reader("language-model:model") == f"language-model:{tmp_path / 'model'}"
    assert resolve_reader("language-model:on/a-hub") == "language-model:on/a-hub"


def test_vectors_that_cannot_be_compared_are_no_readings() -> None:
    with pytest.raises(FeatureError, match="tfidf is no reader"):
        resolve_reader("tfidf")


def test_an_unknown_reader_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FeatureError, match="language-model:"):
        read_concepts(["Limit"], "", "nobody in particular")
