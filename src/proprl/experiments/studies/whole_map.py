"""How right a map is where people looked at every pair, and whether it beats its own labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proprl.data.public.catalogue import WHOLE_MAPS
from proprl.data.splits.whole_map import MapPart
from proprl.errors import ProprlError
from proprl.experiments.running.plan import PROPRL, SEQUITUR, TABLE_1, Wanted
from proprl.experiments.running.run import WHOLE_MAP, Run
from proprl.experiments.running.whole_map import DIRECT_STEPS, FIFTH, QUARTER
from proprl.experiments.settings.methods import settings_of
from proprl.experiments.show.pages import Do, Outcome
from proprl.experiments.show.whole_map_findings import TEST_FILE, gather, stored_test
from proprl.experiments.show.whole_map_page import lines_table, map_outcome
from proprl.features.encoders import resolve_encoder
from proprl.models.needs import FEATURES, LABELS, RESOURCE, missing_inputs
from proprl.models.registry import method

FOUR = (SEQUITUR, "trees", "svm", PROPRL)
"""The methods that are always run; the others only in the full run."""
MAPS = (*WHOLE_MAPS, *DIRECT_STEPS)
MAP_DRAWS = 3
DEVELOPMENT, TEST = "development", "test"


def whole_map(wanted: Wanted, do: Do) -> Outcome:
    """Score the development half, or the test half; that is run once, and printed ever after."""
    if wanted.part not in (DEVELOPMENT, TEST):
        raise ProprlError(f"there is no part {wanted.part!r}; known: {DEVELOPMENT}, {TEST}")
    if wanted.part == TEST and wanted != Wanted(part=TEST, encoder=wanted.encoder):
        raise ProprlError(
            "the test half is run once, with every method and set: leave out --course, --method, "
            "--protocol, --seeds and --quick"
        )
    tested = stored_test()
    if wanted.part == TEST and tested is not None:
        return map_outcome(tested)
    found = gather(do(map_plan(wanted)))
    outcome = map_outcome(found)
    if wanted.part == TEST:
        stored = found.model_dump_json(indent=1) + "\n"
        return replace(outcome, texts={**outcome.texts, TEST_FILE: stored})
    lines = [] if tested is None else [lines_table(tested)]
    return replace(outcome, tables=[*outcome.tables, *lines])


def map_plan(wanted: Wanted) -> list[Run]:
    """Give the runs: each method on each set, for each draw, with a half and a fifth known."""
    if wanted.protocol != Wanted().protocol:
        raise ProprlError(f"{WHOLE_MAP} has a protocol of its own: leave out --protocol")
    draws = MAP_DRAWS if wanted.repeats == Wanted().repeats else wanted.repeats
    if draws > MAP_DRAWS:
        raise ProprlError(f"{WHOLE_MAP} has {MAP_DRAWS} draws of labels; asked for {draws}")
    courses = wanted.asked_courses or MAPS
    foreign = [course for course in courses if course not in MAPS]
    if foreign:
        raise ProprlError(
            f"{foreign[0]} is no set in which people looked at every pair; known: {', '.join(MAPS)}"
        )
    return [
        run
        for course in courses
        for name in wanted.methods or _methods(course, draws)
        for run in _runs(name, course, draws, wanted)
    ]


def _methods(course: str, draws: int) -> list[str]:
    """Give the methods to run on a set: four for a single draw, else all that can run there."""
    if draws == 1:
        return list(FOUR)
    others = [name for name in TABLE_1 if name not in FOUR]
    # The annotated sets have no learner behaviour.
    present = {LABELS, FEATURES, RESOURCE}
    can = [name for name in others if not missing_inputs(method(name).needs, present)]
    return [*FOUR, *(others if course in DIRECT_STEPS else can)]


def _runs(name: str, course: str, draws: int, wanted: Wanted) -> Iterator[Run]:
    preset, changes = settings_of(name, course, WHOLE_MAP)
    shares = [1.0] if course in DIRECT_STEPS else [1.0, FIFTH]
    if name == SEQUITUR and course not in DIRECT_STEPS:
        shares.append(QUARTER)
    part: MapPart = "test" if wanted.part == TEST else "development"
    run = Run(name, course, WHOLE_MAP, preset=preset, changes=changes, part=part)
    encoder = resolve_encoder(wanted.encoder)
    for share in shares:
        for draw in range(draws):
            yield replace(run, fold=draw, seed=draw, label_share=share, encoder=encoder)
