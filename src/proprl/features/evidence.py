"""From a course to the evidence that methods learn from."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray
from proprl.data.course import Course
from proprl.features.encoders import encode, resolve_encoder
from proprl.graphs.evidence import Evidence

GIVEN = "given"
"""The name of the encoder where a course brings its own feature matrix."""

NONE = "none"
"""The name of the encoder that reads nothing: for methods that need no features."""


def gather_evidence(course: Course, encoder: str = "auto") -> tuple[Evidence, str]:
    """Give a course's evidence, and the name of the encoder that made the features.

    "auto" takes the course's own feature matrix where it has one. A view that the course
    cannot offer is None.
    """
    features: FloatArray
    if encoder == NONE:
        features, used = np.empty((len(course), 0)), NONE
    elif encoder in ("auto", GIVEN) and course.features is not None:
        features, used = course.features, GIVEN
    else:
        used = resolve_encoder(encoder)
        features = encode(course.concept_texts(), used)
    evidence = Evidence(
        features=features,
        transitions=course.transition_matrix(),
        incidence=course.incidence(),
        resource_links=course.resource_link_matrix(),
    )
    return evidence, used
