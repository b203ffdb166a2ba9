"""Bundles that are whole by their checksums: what comes back, and what cannot be a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from planted import planted_course
from proprl.data import Course
from proprl.data.resources import resources_of
from proprl.errors import BundleError
from proprl.estimator import PrerequisiteModel, load_model
from proprl.evaluation.base_rate import PRIOR_DEVIATION, PRIOR_MEAN
from proprl.training import bundle as bundles
from proprl.training.bundle import (
    bundle_files,
    pack_sentences,
    read_bundle,
    unpack_sentences,
)

WITHOUT_LABEL = [f"c{i}" for i in range(24, 30)]
PAIRS = [("c0", "c4"), ("c4", "c0"), ("c1", "c29"), ("c28", "c29"), ("c7", "c23")]

Content = dict[str, Any]
Files = dict[str, dict[str, npt.NDArray[Any]]]
Damage = Callable[[Content, Files], object]


@pytest.fixture(scope="module")
def course() -> Course:
    """Thirty concepts, the first ten with a topic, and no label is about the last six."""
    whole = planted_course(concepts=30, pairs=240, transitions=200, features=8, seed=3)
    assert whole.pairs is not None
    assert whole.resources is not None
    about_new = pl.col("source").is_in(WITHOUT_LABEL) | pl.col("target").is_in(WITHOUT_LABEL)
    return replace(
        whole,
        pairs=whole.pairs.filter(~about_new),
        concepts=whole.concepts.with_columns(topic=pl.Series(["Sets"] * 10 + [""] * 20)),
        resources=whole.resources.with_columns(
            text=pl.lit("Here is Concept 1. " + " ".join(f"Concept {i}?" for i in range(2, 25)))
        ),
    )


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


def rewritten(whole: Path, folder: Path, damage: Damage) -> Path:
    """Write a damaged model as somebody would who knows the format: all checksums are right."""
    content, files = read_bundle(whole)
    damage(content, files)
    folder.mkdir(exist_ok=True)
    for name, data in bundle_files(content, files).items():
        (folder / name).write_bytes(data)
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
    before, after = (
        {path.name: path.read_bytes() for path in each.iterdir()}
        for each in (whole, tmp_path / "again")
    )
    assert "model.json" in before
    assert after == before


@pytest.mark.parametrize("name", ["nb", "refd", "trees"])
def test_so_it_is_with_a_method_that_keeps_background_apart_or_takes_none(
    name: str, course: Course, tmp_path: Path
) -> None:
    model = taught(course, name)
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").predict_all().equals(model.predict_all())


def test_a_loaded_model_knows_topics_and_what_resources_say(
    model: PrerequisiteModel, whole: Path
) -> None:
    before, after = model.fitted_, load_model(whole).fitted_
    assert after.topics == before.topics == ("Sets",) * 10 + ("",) * 20
    assert after.resources is not None
    assert before.resources is not None
    assert vars(after.resources) == vars(before.resources)
    assert after.incidence is not None
    links = np.argwhere(after.incidence.toarray()).tolist()
    assert {i: after.resources.sentence(i, j) for i, j in links} == {
        0: "", 1: "Here is Concept 1.", **{i: f"Concept {i}?" for i in range(2, 25)},
        **dict.fromkeys(range(25, 30), ""),
    }  # fmt: skip


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)
@example("\x1b", "\x1b")
@example("\x01\uf06c", "\x01\uf06c \x01\uf06c")
def test_whatever_resources_say_is_read_again(name: str, text: str) -> None:
    course = Course.from_tables(
        concepts=pl.DataFrame({"id": ["a", "b"], "name": [f"{name}x", "word"]}),
        resources=pl.DataFrame({"id": ["r"], "title": ["t"], "text": [f"{text} {name}x word"]}),
    )
    M = course.incidence()
    resources = resources_of(course, M)
    assert resources is not None
    assert unpack_sentences(pack_sentences(resources.sentences), M) == resources.sentences


def test_a_model_without_texts_keeps_ids_and_titles(
    model: PrerequisiteModel, whole: Path, tmp_path: Path
) -> None:
    model.save(tmp_path / "bare", texts=False)
    bare, full = load_model(tmp_path / "bare"), load_model(whole)
    assert bare.fitted_.resources is not None
    assert full.fitted_.resources is not None
    assert bare.fitted_.resources.ids == full.fitted_.resources.ids
    assert bare.fitted_.resources.titles == full.fitted_.resources.titles
    assert not bare.fitted_.resources.sentences
    assert not any(b"Here is" in path.read_bytes() for path in (tmp_path / "bare").iterdir())
    assert any(b"Here is" in path.read_bytes() for path in whole.iterdir())
    assert bare.predict_all().equals(full.predict_all())
    assert model.fitted_.resources is not None
    assert model.fitted_.resources.sentences


def test_a_course_without_resources_has_none_to_show(course: Course, tmp_path: Path) -> None:
    bare = replace(
        course, resources=None, concept_resources=None, concepts=course.concepts.drop("topic")
    )
    taught(bare, "nb").save(tmp_path / "model")
    fitted = load_model(tmp_path / "model").fitted_
    assert (fitted.topics, fitted.resources) == ((), None)


# What is refused


def put(file: str, name: str, place: Any, value: Any) -> Damage:
    """Put one value into an array."""

    def damage(_content: Content, files: Files) -> None:
        files[file][name] = files[file][name].copy()
        files[file][name][place] = value

    return damage


def cut(file: str, name: str, count: int = 1) -> Damage:
    """Leave the last entries of an array away."""
    return lambda _content, files: files[file].update({name: files[file][name][:-count]})


def without(file: str, name: str) -> Damage:
    return lambda _content, files: files[file].pop(name)


def said(path: str, value: Any) -> Damage:
    """Say something else in `model.json`."""

    def damage(content: Content, _files: Files) -> None:
        *above, last = path.split(".")
        for name in above:
            content = content[name]
        content[last] = value

    return damage


def concepts(change: Callable[[list[str]], list[str]], *lists: str) -> Damage:
    def damage(content: Content, _files: Files) -> None:
        for name in lists:
            content["concepts"][name] = change(content["concepts"][name])

    return damage


def topics(change: Callable[[list[str]], list[str]]) -> Damage:
    return lambda content, _files: content["concepts"].update(
        topics=change(content["concepts"]["topics"])
    )


def resources(change: Callable[[list[str]], list[str]], *lists: str) -> Damage:
    def damage(content: Content, _files: Files) -> None:
        for name in lists:
            content["resources"][name] = change(content["resources"][name])

    return damage


def sentences(change: Callable[[bytes], bytes]) -> Damage:
    """Let resources say something else."""

    def damage(_content: Content, files: Files) -> None:
        text = change(files["texts"]["text"].tobytes())
        files["texts"]["text"] = np.frombuffer(text, dtype=np.uint8)

    return damage


def other_order(_content: Content, files: Files) -> None:
    for name in ("links", "sentence"):
        files["texts"][name] = files["texts"][name][::-1].copy()


def drawn_by(chance: float) -> Damage:
    """Say of a label that it was drawn, by this chance."""

    def damage(_content: Content, files: Files) -> None:
        put("labels", "train/origin", 0, bundles._ORIGINS.index("drawn"))(_content, files)
        put("labels", "train/chance", 0, chance)(_content, files)

    return damage


def turned_round(_content: Content, files: Files) -> None:
    files["weights"]["known/pairs"] = files["weights"]["known/pairs"][:, ::-1].copy()


def of_other_size(name: str) -> Damage:
    """Say that a matrix is larger than any memory."""
    return put("weights", f"evidence/{name}/shape", slice(None), 2**40)


def nothing_held_out(_content: Content, files: Files) -> None:
    files["heldout"].clear()


HELD_OUT = ("scores", "background", "of_new")

IMPOSSIBLE: dict[str, Damage] = {
    # Labels and concepts
    "a known concept that is not there": put("weights", "known/pairs", 0, 9999),
    "a labelled concept that is not there": put("labels", "train/pairs", 0, 9999),
    "a label of 2": put("labels", "train/labels", 0, 2),
    "a known label of 2": put("weights", "known/labels", 0, 2),
    "other known pairs than labels": turned_round,
    "fewer known pairs than labels": lambda content, files: (
        cut("weights", "known/pairs")(content, files),
        cut("weights", "known/labels")(content, files),
    ),
    "a chance of 0": drawn_by(0.0),
    "a chance above 1": drawn_by(1.5),
    "a chance that is no number": drawn_by(np.nan),
    "a concept too many": concepts(lambda known: [*known, "more"], "ids", "names"),
    "a concept too few": concepts(lambda known: known[:-1], "ids", "names"),
    "no concepts": concepts(lambda _known: [], "ids", "names"),
    "a name too few": concepts(lambda known: known[:-1], "names"),
    "an id twice": concepts(lambda known: [known[1], *known[1:]], "ids"),
    "an id that is a number": concepts(lambda known: [7, *known[1:]], "ids"),  # type: ignore[list-item]
    # Evidence
    "a move of no weight": put("evidence", "transitions/values", 0, np.nan),
    "a move to nowhere": put("evidence", "transitions/entries", 0, 9999),
    "half a matrix of moves": without("evidence", "transitions/entries"),
    "features of fewer concepts": cut("weights", "evidence/features"),
    "moves beyond all memory": of_other_size("transitions"),
    "resources beyond all memory": of_other_size("incidence"),
    # Topics, resources and sentences
    "a topic too few": topics(lambda known: known[:-1]),
    "topics that are empty": topics(lambda known: [""] * len(known)),
    "no word of topics": lambda content, _files: content["concepts"].pop("topics"),
    "a resource too many": resources(lambda known: [*known, "more"], "ids", "titles"),
    "a resource too few": resources(lambda known: known[:-1], "ids", "titles"),
    "a title too few": resources(lambda known: known[:-1], "titles"),
    "a resource's id twice": resources(lambda known: [known[1], *known[1:]], "ids"),
    "no resources that say something": said("resources", None),
    "no word of resources": lambda content, _files: content.pop("resources"),
    "a sentence of no link": put("texts", "links", 0, 29),
    "a sentence of a concept that is not there": put("texts", "links", -1, 9999),
    "a sentence that is not there": put("texts", "sentence", 0, 9999),
    "a sentence counted from the end": put("texts", "sentence", -1, -1),
    "a sentence too few": cut("texts", "sentence"),
    "no sentences for the links": without("texts", "text"),
    "half a letter": sentences(lambda text: text[:-1] + b"\xc3"),
    "an empty sentence": sentences(lambda text: text[: text.rindex(b"\n") + 1]),
    "a sentence that nobody says": sentences(lambda text: text + b"\nMore."),
    "a sentence that is too long": sentences(lambda text: text + b"x" * 300),
    "a sentence on two lines": sentences(lambda text: text.replace(b" is ", b"\ris ")),
    "a sentence that moves the cursor": sentences(lambda text: text.replace(b" is ", b" \x1b[A")),
    "sentences in another order": other_order,
    # Scores
    "a reverse worth no number": put("weights", "reverse_weight", 0, np.nan),
    "a reverse worth two numbers": lambda _content, files: files["weights"].update(
        reverse_weight=np.zeros(2)
    ),
    "too few held-out scores": cut("heldout", "scores"),
    **{f"{name} that are no numbers": put("heldout", name, 0, np.nan) for name in HELD_OUT},
    **{f"{name} above 1": put("heldout", name, 0, 1.5) for name in HELD_OUT},
    **{f"{name} below 0": put("heldout", name, 0, -0.5) for name in HELD_OUT},
    **{f"no {name}": without("heldout", name) for name in HELD_OUT},
    "nothing held out": nothing_held_out,
    "other held-out labels": put("heldout", "labels/labels", 0, 7),
    "a held-out label turned": lambda _content, files: files["heldout"].update(
        {"labels/labels": 1 - files["heldout"]["labels/labels"]}
    ),
    # Calibration
    "no calibration": said("calibration", None),
    "no calibration of new": said("calibration_of_new", None),
    "no word of the calibration of new": lambda content, _files: content.pop("calibration_of_new"),
    **{
        f"{one}.{name} of {value}": said(f"{one}.{name}", value)
        for one in ("calibration", "calibration_of_new")
        for name, value in (
            ("slope", -5),
            ("slope", 0),
            ("slope", None),
            ("intercept", "high"),
            ("base_rate", 0),
            ("base_rate", 3),
            ("base_rate", -0.1),
            ("base_rate", None),
            ("believed", -2),
            ("believed", 0.5),
            ("interval", [0.3, 0.1]),
            ("interval", [0.3, 1.1]),
            ("interval", [0.3]),
            ("interval", None),
            ("open_pairs", -1),
            ("open_pairs", 10_000),
        )
    },
    # Other facts
    "a threshold above 1": said("report.threshold", 1.5),
    "a class without weight": said("report.class_weights", [0, 1]),
    "a best epoch that never was": said("report.history.best_epoch", 3),
    "a seed below 0": said("seed", -1),
    "background below 0": said("background", -1),
    "no such method": said("method", "oracle"),
    "notes that are no texts": said("notes", [7]),
}


@pytest.mark.parametrize("damage", IMPOSSIBLE)
def test_what_no_fit_comes_to_is_refused(damage: str, whole: Path, tmp_path: Path) -> None:
    folder = rewritten(whole, tmp_path / "damaged", IMPOSSIBLE[damage])
    with pytest.raises(BundleError, match=r"not written by this version.*\); train again$"):
        load_model(folder)


def test_the_message_says_what_is_impossible(whole: Path, tmp_path: Path) -> None:
    folder = rewritten(whole, tmp_path / "damaged", said("calibration.slope", -5))
    with pytest.raises(BundleError, match=r"\(calibration: .*slope -5\.0 .* above 0\); train"):
        load_model(folder)
    folder = rewritten(whole, tmp_path / "damaged", resources(lambda ids: ids[1:], "ids"))
    with pytest.raises(BundleError, match=r"\(.* resources hold concepts, and .* titles"):
        load_model(folder)
    folder = rewritten(whole, tmp_path / "damaged", without("heldout", "of_new"))
    with pytest.raises(BundleError, match=r"\(it lacks of_new\); train again"):
        load_model(folder)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_json_does_not_know_is_refused(
    number: str, model: PrerequisiteModel, whole: Path, tmp_path: Path
) -> None:
    folder = rewritten(whole, tmp_path / "damaged", lambda _content, _files: None)
    calibration = model.fitted_.fit.calibration
    assert calibration is not None
    slope = json.dumps(asdict(calibration)["slope"])
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace(f'"slope": {slope}', f'"slope": {number}'))
    with pytest.raises(BundleError, match="train again"):
        load_model(folder)


# Whatever a bundle holds

NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 2, 0.5, 9999, 2**31, -(2**31), 2**62, 1e38, -1e300]),
    st.integers(-40, 40),
    st.floats(-2, 2),
)
ODD = st.sampled_from([np.nan, np.inf, -np.inf])


def places(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where numbers, and what may be null, stand in `model.json`."""
    if isinstance(found, dict | list):
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        return [place for key, below in pairs for place in places(below, (*path, key))]
    return [] if isinstance(found, str) else [path]


def damage_number(draw: Callable[[Any], Any], content: Content) -> None:
    *above, last = draw(st.sampled_from(places(content)))
    for key in above:
        content = content[key]
    content[last] = draw(st.one_of(NUMBERS, st.sampled_from([None, [], "text", True])))


def damage_array(draw: Callable[[Any], Any], files: Files) -> None:
    names = sorted((file, name) for file, arrays in files.items() for name in arrays)
    file, name = draw(st.sampled_from(names))
    files[file][name] = damaged(draw, files[file][name])


def damaged(draw: Callable[[Any], Any], array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give other numbers, or as many in another shape, order or precision."""
    how = draw(st.sampled_from(["number", "all", "length", "order", "type", "shape"]))
    if how in ("number", "all"):
        number = draw(st.one_of(NUMBERS, ODD))
        place = draw(st.integers(0, array.size - 1)) if how == "number" and array.size else ...
        with np.errstate(all="ignore"):
            value = np.array(number).astype(array.dtype)
        flat = array.ravel().copy()
        flat[place] = value
        return flat.reshape(array.shape)
    if how == "length":
        return draw(st.sampled_from([array[:-1], array[1:], array[:0], np.repeat(array, 2, 0)]))
    if how == "order":
        return array[::-1].copy()
    if how == "type":
        with np.errstate(all="ignore"):
            return array.astype(draw(st.sampled_from(["f2", "f8", "i1", "i8", "u8", "?"])))
    return draw(st.sampled_from([array.ravel(), array[None], array[..., None], array.sum()]))


def test_whatever_a_bundle_holds_it_is_refused_or_answers(whole: Path, tmp_path: Path) -> None:
    answered: list[bool] = []

    @given(st.data())
    @settings(max_examples=80)
    def tried(data: st.DataObject) -> None:
        def damage(content: Content, files: Files) -> None:
            if data.draw(st.booleans()):
                damage_number(data.draw, content)
            else:
                damage_array(data.draw, files)

        folder = rewritten(whole, tmp_path / str(len(answered)), damage)
        answered.append(False)
        with suppress(BundleError):
            p = load_model(folder).predict_proba(PAIRS)
            assert ((p >= 0) & (p <= 1)).all()
            answered[-1] = True

    tried()
    assert min(answered.count(True), answered.count(False)) > 10  # else nothing was tried
