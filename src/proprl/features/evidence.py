"""From a course to the evidence that methods learn from."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray
from proprl.data.course import Course
from proprl.errors import FeatureError
from proprl.features.encoders import encode, resolve_encoder
from proprl.features.readings import NOBODY, read_concepts
from proprl.graphs.evidence import Evidence
from proprl.progress import SILENT, Progress

GIVEN = "given"
"""The name of the encoder where a course brings its own feature matrix."""

NONE = "none"
"""The name of the encoder that reads nothing: for methods that need no features."""

ALONE = {
    GIVEN: "the course brought its own vectors, and none for this text",
    NONE: "the model reads no texts",
    "tfidf": "its vectors depend on all texts of the course",
}
"""Encoders that give no vector of another text, and why."""

# So many passages are read at most: MiniLM takes a minute for 3,000 on one core.
OF_A_CONCEPT, OF_ALL = 15, 8_000


def feature_source(course: Course, encoder: str) -> str:
    """Give what a course's features come from; one that cannot be had here is an error."""
    if encoder == NONE:
        return NONE
    if encoder in ("auto", GIVEN) and course.features is not None:
        return GIVEN
    return resolve_encoder(encoder)


def gather_evidence(
    course: Course,
    encoder: str = "auto",
    *,
    passages: bool = False,
    reader: str = NOBODY,
    progress: Progress = SILENT,
) -> tuple[Evidence, str]:
    """Give a course's evidence, and the name of the encoder that made the features.

    "auto" takes the course's own feature matrix where it has one. A view that the course
    cannot offer is None, and so are `passages` unless they are asked for and can be encoded, and
    `readings` without a `reader`.

    The texts of resources are not encoded whole, so `resource_features` is None and a resource is
    the mean of its concepts. Vectors of the texts were tried in R-VGAE, MHAVGAE and LCPRE on two
    public sets: validation AUC fell in seven of nine fits, by 1.5 points on average.
    """
    used = feature_source(course, encoder)
    if reader != NOBODY:
        resolve_encoder(reader)  # one that cannot be had here is found before anything is read
    passages = passages and used not in ALONE
    progress.begin("reading", 2 if passages else 1)
    features: FloatArray
    if used == NONE:
        features = np.empty((len(course), 0))
    elif used == GIVEN and course.features is not None:
        features = course.features
    else:
        features = encode(course.concept_texts(), used)
    progress.step()
    second = None
    if passages:
        second = _passages(course, features, used, progress)
        progress.step()
    progress.end()
    readings = None
    if reader != NOBODY:
        readings = read_concepts(course.names, course.subject, reader, progress=progress)
    evidence = Evidence(
        features=features,
        transitions=course.transition_matrix(),
        incidence=course.incidence(),
        resource_links=course.resource_link_matrix(),
        passages=second,
        readings=readings,
    )
    return evidence, used


def _passages(
    course: Course, features: FloatArray, encoder: str, progress: Progress
) -> FloatArray | None:
    """Give the mean vector of the passages that mention each concept, 0 where there are none."""
    found = course.passages(at_most=max(1, min(OF_A_CONCEPT, OF_ALL // len(course))))
    texts = [passage for of_concept in found for passage in of_concept]
    if not texts:
        return None
    progress.note(f"{len(texts):,} passages that mention concepts")
    vectors = encode(texts, encoder)
    mean = np.zeros_like(features)
    end = 0
    for row, of_concept in enumerate(found):
        start, end = end, end + len(of_concept)
        if of_concept:
            mean[row] = vectors[start:end].mean(axis=0)
    return mean


def encode_alone(text: str, encoder: str) -> FloatArray:
    """Give the vector (1 × d) of a text that came later, made as those of a course were."""
    if encoder in ALONE:
        raise FeatureError(
            f"a new text cannot be encoded as those of the model were (encoder {encoder}): "
            f"{ALONE[encoder]}; train with another encoder, such as wordllama"
        )
    return encode([text], encoder)
