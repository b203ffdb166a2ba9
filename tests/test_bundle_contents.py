"""Bundles: what comes back of a model that was saved."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from proprl.data import Course
from proprl.data.synthetic import planted_course
from proprl.estimator import PrerequisiteModel, load_model
from proprl.evaluation.base_rate import PRIOR_DEVIATION, PRIOR_MEAN

WITHOUT_LABEL = [f"c{i}" for i in range(24, 30)]


@pytest.fixture(scope="module")
def course() -> Course:
    """Thirty concepts, and no label is about the last six."""
    whole = planted_course(concepts=30, pairs=240, transitions=200, features=8, seed=3)
    assert whole.pairs is not None
    about_new = pl.col("source").is_in(WITHOUT_LABEL) | pl.col("target").is_in(WITHOUT_LABEL)
    return replace(whole, pairs=whole.pairs.filter(~about_new))


def taught(course: Course, method: str = "sequitur", **changes: Any) -> PrerequisiteModel:
    return PrerequisiteModel(method, settings=changes).fit(course)


@pytest.fixture(scope="module")
def model(course: Course) -> PrerequisiteModel:
    return taught(course, trees=10)


@pytest.fixture(scope="module")
def whole(model: PrerequisiteModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "model"
    model.save(folder)
    return folder


# What comes back


def test_a_loaded_model_says_the_same_of_pairs_with_and_without_labels(
    model: PrerequisiteModel, whole: Path
) -> None:
    assert model.fitted_.fit.calibration_of_new is not None
    assert load_model(whole).predict_all().equals(model.predict_all())


def test_a_loaded_fit_is_the_fit_that_was_saved(model: PrerequisiteModel, whole: Path) -> None:
    before, after = model.fitted_.fit, load_model(whole).fitted_.fit
    assert after.calibration == before.calibration
    assert after.calibration_of_new == before.calibration_of_new
    assert after.report == before.report
    np.testing.assert_array_equal(after.labelled, before.labelled)
    assert before.held_out is not None
    for field in fields(before.held_out):
        saved, loaded = getattr(before.held_out, field.name), getattr(after.held_out, field.name)
        assert np.array_equal(loaded, saved) if isinstance(saved, np.ndarray) else loaded == saved


def test_a_loaded_fit_can_be_told_another_prior(model: PrerequisiteModel, whole: Path) -> None:
    def told(one: PrerequisiteModel) -> tuple[object, object]:
        prior = (PRIOR_MEAN + 1, PRIOR_DEVIATION)
        fit = one.fitted_.fit.with_prior(prior, one.fitted_.known, len(one.fitted_.concept_ids))
        return fit.calibration, fit.calibration_of_new

    assert told(load_model(whole)) == told(model)


def test_a_loaded_model_is_saved_as_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    load_model(whole).save(tmp_path / "again")
    for path in whole.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["nb", "refd", "trees"])
def test_so_it_is_with_a_method_that_keeps_background_apart_or_takes_none(
    name: str, course: Course, tmp_path: Path
) -> None:
    model = taught(course, name)
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").predict_all().equals(model.predict_all())
