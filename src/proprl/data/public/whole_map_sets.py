"""Public sets in which people looked at nearly every ordered pair: for measuring a whole map.

Both are LectureBank's own annotations. Their counts say what every row of the file became.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proprl.data.public.pinned import PublicSet, pinned

_TEXTS = "gkrom/LectureBank/cs_courses.csv"
_TEXTS_FROM = (
    " Resource texts: Learning Concept Prerequisite Relation via Global Knowledge Relation "
    "Optimization (GKROM), AAAI 2025."
)


@dataclass(frozen=True)
class MapCounts:
    """How much a set holds, and what became of each row of its annotations.

    Rows are left out in this order, each for the first reason that holds; then repeats of an
    ordered pair are taken together, and what is left are the pairs.
    """

    rows: int  # of the file of annotations
    without_label: int
    without_name: int  # one of the two numbers has no name
    of_later_namesakes: int  # one of the two topics has the name of an earlier one
    with_itself: int  # the topic stands on both sides
    repeats: int  # the pair stands in an earlier row
    contradictions: int  # pairs whose rows carry both labels
    pairs: int
    positives: int
    concepts: int
    resources: int


@dataclass(frozen=True)
class WholeMapSet(PublicSet):
    """A public set with labels of nearly all ordered pairs of its concepts."""

    topics: str  # the file of numbers and names
    separator: str  # of the columns in that file
    annotations: str  # the file of first, second, label
    texts: str  # the file of resource texts
    counts: MapCounts
    doubtful_names: tuple[int, ...] = ()
    """Numbers under which the annotators saw another topic than the file of topics names."""

    @property
    def facts(self) -> Mapping[str, int]:
        """How many concepts, resources, transitions, labelled pairs and positives it holds."""
        return {
            "concepts": self.counts.concepts,
            "resources": self.counts.resources,
            "transitions": 0,
            "labelled_pairs": self.counts.pairs,
            "positives": self.counts.positives,
        }


WHOLE_MAPS: Mapping[str, WholeMapSet] = {
    "lecturebank-208": WholeMapSet(
        name="lecturebank-208",
        title="Topics of natural language processing, nearly every pair annotated (version 1)",
        subject="natural language processing",
        citation="I. Li, A. Fabbri, R. Tung, D. Radev: What Should I Learn First: Introducing "
        "LectureBank for NLP Education and Prerequisite Chain Learning, AAAI 2019." + _TEXTS_FROM,
        files=pinned(
            "lecturebank/208topics.csv", "lecturebank/prerequisite_annotation.csv", _TEXTS
        ),
        topics="lecturebank/208topics.csv",
        separator=",",
        annotations="lecturebank/prerequisite_annotation.csv",
        texts=_TEXTS,
        counts=MapCounts(
            rows=42_750,
            without_label=0,
            without_name=829,
            of_later_namesakes=0,
            with_itself=2,
            repeats=406,
            contradictions=4,
            pairs=41_513,
            positives=913,
            concepts=206,
            resources=277,
        ),
        # Line 205 was three topics to the annotators, so what comes after it is two further on:
        # tests/data/public/test_lecturebank_labels.py. The names are left as they are published.
        doubtful_names=(206, 207, 208, 209),
    ),
    "lecturebank-322": WholeMapSet(
        name="lecturebank-322",
        title="Topics of natural language processing, two pairs of three annotated (version 2)",
        subject="natural language processing",
        citation="I. Li, A. Fabbri, S. Hingmire, D. Radev: R-VGAE: Relational-variational Graph "
        "Autoencoder for Unsupervised Prerequisite Chain Learning, COLING 2020." + _TEXTS_FROM,
        files=pinned(
            "lecturebank/322topics_final.tsv", "lecturebank/final_new_annotation.csv", _TEXTS
        ),
        topics="lecturebank/322topics_final.tsv",
        separator="|",
        annotations="lecturebank/final_new_annotation.csv",
        texts=_TEXTS,
        counts=MapCounts(
            rows=68_076,
            without_label=1,
            without_name=0,
            of_later_namesakes=898,
            with_itself=0,
            repeats=0,
            contradictions=0,
            pairs=67_177,
            positives=467,
            concepts=320,
            resources=277,
        ),
    ),
}
