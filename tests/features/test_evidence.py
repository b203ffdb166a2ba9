"""From a course to vectors: what is read about a concept."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from proprl.data import Course
from proprl.features.encoders import encode
from proprl.features.evidence import gather_evidence


def course(texts: list[str]) -> Course:
    return Course.from_tables(
        concepts=pl.DataFrame({"id": ["a", "b"], "name": ["Limit", "Derivative"]}),
        resources=pl.DataFrame(
            {
                "id": [str(k) for k in range(len(texts))],
                "title": ["Lesson"] * len(texts),
                "text": texts,
            }
        ),
    )


def test_passages_are_read_as_a_second_text_where_there_are_any() -> None:
    texts = ["a limit of a sum", "the limit of a quotient"]
    evidence = gather_evidence(course(texts), "wordllama", passages=True)[0]
    assert evidence.passages is not None
    of_passages = encode([f"Lesson . {text}" for text in texts], "wordllama").mean(axis=0)
    np.testing.assert_allclose(evidence.passages[0], of_passages, rtol=1e-5)
    assert not evidence.passages[1].any()  # nobody mentions derivatives


@pytest.mark.parametrize(
    ("encoder", "asked", "texts"),
    [
        ("wordllama", False, ["a limit"]),
        ("wordllama", True, ["nothing of the kind"]),
        ("tfidf", True, ["a limit"]),  # its vectors cannot be compared with those of concepts
    ],
)
def test_no_passages(encoder: str, asked: bool, texts: list[str]) -> None:
    assert gather_evidence(course(texts), encoder, passages=asked)[0].passages is None


def test_of_many_concepts_fewer_passages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    found = Course.passages

    def passages(self: Course, *, at_most: int) -> list[list[str]]:
        asked.append(at_most)
        return found(self, at_most=at_most)

    monkeypatch.setattr(Course, "passages", passages)
    for limit in (8_000, 7, 1):
        monkeypatch.setattr("proprl.features.evidence.OF_ALL", limit)
        gather_evidence(course(["a limit"]), "wordllama", passages=True)
    assert asked == [15, 3, 1]
