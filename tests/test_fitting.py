"""The one fit: what is prepared can be fitted again and again, and nothing is read twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from proprl import fitting
from proprl.data import Course
from proprl.data.splits.parts import split_course
from proprl.errors import MissingInputError, ProprlError
from proprl.fitting import Choices, fit, fit_prepared, prepare
from proprl.pairs.background import draw_background

FEW_TREES = Choices(settings={"trees": 5}, seed=3)


def test_a_fit_is_preparing_and_learning(planted: Course) -> None:
    prepared = prepare(planted, FEW_TREES)
    split = split_course(planted)
    known = split.train.joined(split.validation)
    background = draw_background(known, len(planted), seed=3)
    parts = fit_prepared(prepared, split, background=background, seed=3)
    whole = fit(planted, FEW_TREES)
    pairs = known.pairs[:50]
    np.testing.assert_array_equal(parts.fit.score(pairs), whole.fit.score(pairs))
    assert (parts.background, parts.notes) == (whole.background, whole.notes)


def test_what_is_prepared_knows_its_method_and_where_its_vectors_come_from(planted: Course) -> None:
    prepared = prepare(planted, Choices("svm", encoder="wordllama"))
    assert (prepared.method, prepared.encoder) == ("svm", "wordllama")
    assert prepared.evidence.concept_count == len(planted)


def test_what_is_missing_is_said_before_anything_is_read(
    planted: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "gather_evidence", lambda *_, **__: pytest.fail("it was read"))
    alone = Course.from_tables(concepts=planted.concepts.select("id", "name"))
    with pytest.raises(MissingInputError, match="pairs"):
        fit(alone, Choices())
    labels = pl.DataFrame({"source": ["c1"], "target": ["c2"], "label": [1]})
    one_label = Course.from_tables(concepts=planted.concepts.select("id", "name"), pairs=labels)
    with pytest.raises(ProprlError, match="add pairs with label 0"):
        fit(one_label, Choices("svm"))


def test_a_misspelt_setting_is_said_first(planted: Course) -> None:
    with pytest.raises(ProprlError, match="did you mean trees"):
        fit(planted, Choices(settings={"treees": 5}))


def test_no_method_sees_topics(planted: Course) -> None:
    """Even topics that would give the labels away change no probability."""
    topics = pl.Series([f"Topic {i % 4}" for i in range(len(planted))])
    with_topics = replace(planted, concepts=planted.concepts.with_columns(topic=topics))
    bare, told = fit(planted, FEW_TREES), fit(with_topics, FEW_TREES)
    assert (bare.topics, told.topics) == ((), tuple(topics))
    pairs = planted.labelled_pairs().pairs
    np.testing.assert_array_equal(told.fit.score(pairs), bare.fit.score(pairs))


def test_experiments_are_spared_the_search_for_sentences(
    planted: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "resources_of", lambda *_: pytest.fail("it was searched"))
    fitted = fit_prepared(prepare(planted, FEW_TREES), split_course(planted), seed=3)
    assert fitted.resources is None
