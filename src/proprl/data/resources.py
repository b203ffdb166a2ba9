"""What a person is shown of a course's resources: titles, and sentences that mention concepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proprl.arrays import SparseMatrix
from proprl.data.course import Course, title_and_text
from proprl.data.mentions import mentioning_sentences
from proprl.progress import SILENT, Progress


@dataclass(frozen=True, eq=False)
class Resources:
    """Ids and titles of m resources, and the sentences in which they mention concepts."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    sentences: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """By row of the concept and row of the resource; links without a mention have none."""

    def sentence(self, concept_row: int, resource_row: int) -> str:
        """Give the sentence in which a resource mentions a concept; "" where there is none."""
        return self.sentences.get((concept_row, resource_row), "")

    def without_texts(self) -> Resources:
        """Give ids and titles alone."""
        return replace(self, sentences={})


def resources_of(
    course: Course, incidence: SparseMatrix | None, progress: Progress = SILENT
) -> Resources | None:
    """Give a course's resources with a sentence for each link; None without links.

    It is the first sentence of the text that mentions the concept, else the title.
    """
    if course.resources is None or incidence is None:
        return None
    progress.begin("sentences", 1)
    titles, texts = course.resources["title"].to_list(), title_and_text(course.resources)
    found = mentioning_sentences(course.names, titles, texts, incidence)
    progress.step()
    progress.end()
    return Resources(
        tuple(course.resources["id"]), tuple(course.resources["title"]), dict(sorted(found.items()))
    )
