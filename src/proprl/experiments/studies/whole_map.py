"""Whether a map is right where people looked at every pair, and whether it beats its own labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from proprl.data.public.whole_map_sets import WHOLE_MAPS
from proprl.data.splits.whole_map import Known
from proprl.errors import ProprlError
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import experiment_settings, table1_methods
from proprl.experiments.running.run import WHOLE_MAP, Run
from proprl.experiments.running.whole_map import DIRECT_STEPS, FIFTH, OTHER_PRIORS, QUARTER
from proprl.experiments.show.markdown import csv_text, markdown_table
from proprl.experiments.show.whole_map_figures import curves_figure, reliability_figure
from proprl.experiments.show.whole_map_findings import (
    TEST_FILE,
    Cell,
    Findings,
    gather,
    stored_test,
)
from proprl.experiments.show.whole_map_lines import HEADS, map_lines
from proprl.features.encoders import resolve_encoder
from proprl.models.needs import FEATURES, LABELS, RESOURCE, missing_inputs
from proprl.models.registry import method

OURS = "sequitur"
FOUR = (OURS, "trees", "svm", "proprl")
"""The methods that are always run; the others only in the full run."""
COURSES = (*WHOLE_MAPS, *DIRECT_STEPS)
DRAWS = 3
DEVELOPMENT, TEST = "development", "test"

BASE_RATE_TITLE = "Sequitur, if another base rate is expected"
KNOWN_WORDS: Mapping[Known, str] = {
    "half": "half of the pairs",
    "fifth": "a fifth of the pairs",
    "quarter": "pairs of a quarter of the concepts",
}
TITLES = {"degrees": "rule: degrees", "reachability": "labels alone: reachability"}
# Metric, heading, and how it is written.
PAIR_COLUMNS = (
    ("average_precision", "AP", ".3f"),
    ("average_precision_open", "AP, open", ".3f"),
    ("log_loss_gain", "log loss gain", "+.2f"),
    ("believed", "believed", ".2%"),
    ("believed_right", "right", ".2f"),
    ("believed_found", "found", ".2f"),
    ("promised_ratio", "promised / true", ".2f"),
    ("new_auc", "AUC, no label", ".2f"),
    ("new_promised", "promised", ".0f"),
    ("new_true", "true", ".0f"),
)
BASE_RATE_COLUMNS = (
    ("promised_ratio", "promised / true", ".2f"),
    *((f"promised_ratio, {prior}", prior, ".2f") for prior in OTHER_PRIORS),
    ("log_loss_gain", "log loss gain", "+.2f"),
    *((f"log_loss_gain, {prior}", prior, "+.2f") for prior in OTHER_PRIORS),
)
MAP_COLUMNS = (
    ("follows_right", "right", ".2f"),
    ("follows_found", "found", ".2f"),
    ("follows_f1", "F1", ".3f"),
    ("f1_lead", "above labels alone", "+.3f"),
    ("edges_learned", "learned edges", ".0f"),
    ("edges_right", "right or implied", ".2f"),
    ("asked_edges_learned", "of them asked", ".0f"),
    ("asked_edges_right", "right or implied", ".2f"),
)
WAY_COLUMNS = (
    *MAP_COLUMNS[:-2],  # all edges are asked there
    ("way_found", "of the author's way", ".1f"),
    ("way_length", "way in all", ".1f"),
)
WITH_INTERVALS = ("average_precision", "f1_lead")
HOW = """\
A hash of the two names divides the unordered pairs into two halves
(`proprl.data.splits.whole_map`). For the test half, all of the development half is known. For the
development half, a half of it is known, so *a half known* is a quarter of the map there. Of the
known pairs all positives and as many negatives are labels; half of the negatives are positives
turned round. All other annotated pairs of the half in question are asked. Means over {draws}; in
brackets the middle 95 % over unordered asked pairs drawn anew. Texts encoded by `{encoder}`.

- *AP*: average precision over all asked pairs; *open*: those which no known positive decides.
- *log loss gain*: how far the log loss is below that of someone who knows the base rate and nothing
  else, as a share of it; below 0 that someone is better.
- *believed*: pairs at or above the threshold with the best expected F1; of these *right*, and of
  all prerequisites *found*.
- *promised / true*: the sum of the probabilities over the number of prerequisites.
- *no label*: asked pairs in which a concept has no label at all: their AUC, how many prerequisites
  are promised among them, and how many there are.
- *the map*: what follows from the graph, over the asked pairs: right, found and F1, and how far
  that is above what follows from the known labels alone, without a model. A map that is not above
  is worth nothing.
- *learned edges*: edges of the graph that no label says; *right or implied* by what people said of
  all pairs. An edge about which nobody said anything counts as wrong. *Of them asked*: those of
  asked pairs. Elsewhere an edge can only be wrong or implied: all positives of the known pairs are
  labels, so no unlabelled pair among them is right. On development, edges that belong to the test
  half are left out.
- Two rules know no texts: *degrees* multiplies how often the source is a known source by how often
  the target is a known target; *reachability* says what follows from known prerequisites.
"""
BASE_RATES = """\
Before a course is seen, Sequitur expects one open pair in 56 to be a prerequisite. Here it
expects one in 100 (*prior at 1 %*), or one in 10 (*prior at 10 %*), and learns from the same
labels. In the last row of each set, labels come from a quarter of the concepts only. A row is empty
where too few labels and background pairs are left to tell how rare prerequisites are.
"""
CAMPUS = """\
Labels of `campus` are direct steps, so the truth is what follows from all of them, and only the
graph is judged: over ordered pairs whose two concepts have no train or validation label in either
order. The way leads from Fractions to Gradient descent; its author needs 15 concepts.
"""


def whole_map(wanted: Wanted, do: Do) -> Outcome:
    """Score the development half; or, once, the test half, which is printed from then on."""
    if wanted.part == TEST:
        return _on_test(wanted, do)
    if wanted.part != DEVELOPMENT:
        raise ProprlError(f"there is no part {wanted.part!r}; known: {DEVELOPMENT}, {TEST}")
    results = do(map_plan(wanted))
    tested = stored_test()
    outcome = _outcome(gather(results, OURS))
    lines = [] if tested is None else [_lines_table(tested)]
    return Outcome(outcome.results, [*outcome.tables, *lines], outcome.texts, outcome.figures)


def _on_test(wanted: Wanted, do: Do) -> Outcome:
    """Give the stored run on the test half; only where there is none, run it."""
    if wanted != Wanted(part=TEST, encoder=wanted.encoder):
        raise ProprlError(
            "the test half is run once, with every method and set: leave out --course, --method, "
            "--protocol, --seeds and --quick"
        )
    found = stored_test()
    if found is not None:
        return _outcome(found)
    found = gather(do(map_plan(wanted)), OURS)
    outcome = _outcome(found)
    return replace(outcome, texts={**outcome.texts, TEST_FILE: found.text()})


def map_plan(wanted: Wanted) -> list[Run]:
    """Give the runs: each method on each set, for each draw, with a half and a fifth known."""
    if wanted.protocol != Wanted().protocol:
        raise ProprlError(f"{WHOLE_MAP} has a protocol of its own: leave out --protocol")
    draws = DRAWS if wanted.repeats == Wanted().repeats else wanted.repeats
    if draws > DRAWS:
        raise ProprlError(f"{WHOLE_MAP} has {DRAWS} draws of labels; asked for {draws}")
    courses = wanted.asked_courses or COURSES
    foreign = [course for course in courses if course not in COURSES]
    if foreign:
        raise ProprlError(
            f"{foreign[0]} is no set in which people looked at every pair; known: "
            f"{', '.join(COURSES)}"
        )
    return [
        run
        for course in courses
        for name in wanted.methods or _methods(course, draws)
        for run in _runs(name, course, draws, wanted)
    ]


def _methods(course: str, draws: int) -> list[str]:
    """Give the methods to run on a set: all that can, but four where it is to be quick."""
    if draws == 1:
        return list(FOUR)
    others = [name for name in table1_methods() if name not in FOUR]
    # The annotated sets have no learner behaviour.
    present = {LABELS, FEATURES, RESOURCE}
    can = [name for name in others if not missing_inputs(method(name).needs, present)]
    return [*FOUR, *(others if course in DIRECT_STEPS else can)]


def _runs(name: str, course: str, draws: int, wanted: Wanted) -> Iterable[Run]:
    preset, changes = experiment_settings().of(name, course, WHOLE_MAP)
    shares = [1.0] if course in DIRECT_STEPS else [1.0, FIFTH]
    if name == OURS and course not in DIRECT_STEPS:
        shares.append(QUARTER)
    for share in shares:
        for draw in range(draws):
            yield Run(
                name,
                course,
                protocol=WHOLE_MAP,
                fold=draw,
                seed=draw,
                preset=preset,
                changes=changes,
                encoder=resolve_encoder(wanted.encoder),
                part="test" if wanted.part == TEST else "development",
                label_share=share,
            )


def _outcome(findings: Findings) -> Outcome:
    stem = WHOLE_MAP if findings.part == DEVELOPMENT else f"{WHOLE_MAP}-test"
    tables = [
        Table(f"{title}, {findings.part} half", heads, rows)
        for title, heads, rows in _bodies(findings)
    ]
    texts = {
        f"{stem}.md": _page(findings, stem),
        f"{stem}.csv": csv_text(
            ("set", "known", "method", "metric", "mean", "low", "high"), _rows(findings)
        ),
    }
    figures = {
        f"{stem}-reliability": lambda: reliability_figure(findings, _title),
        f"{stem}-curves": lambda: curves_figure(findings, _title),
    }
    results = [findings.model_dump(mode="json")]
    return Outcome(results, [*tables, _lines_table(findings)], texts, figures)


def _page(findings: Findings, stem: str) -> str:
    draws = f"{findings.draws} draw{'s' if findings.draws > 1 else ''} of labels"
    how = HOW.format(draws=draws, encoder=findings.encoder)
    title = f"# The whole map, {findings.part} half"
    when = f"Run at commit {findings.commit} on {findings.date}. {findings.note}".rstrip()
    parts = [title, when, how.rstrip(), _facts_table(findings)]
    for about, heads, rows in _bodies(findings):
        note = f"{CAMPUS}\n" if about.startswith(DIRECT_STEPS) else ""
        note = f"{BASE_RATES}\n" if about == BASE_RATE_TITLE else note
        parts.append(f"## {about}\n\n{note}{markdown_table(heads, rows)}".rstrip())
    lines = [line.row() for line in map_lines(findings, OURS)]
    if lines:
        parts.append(f"## Lines\n\n{_judged(findings)}{markdown_table(HEADS, lines)}".rstrip())
    parts.append(
        f"## Pictures\n\n![What was said and what came true]({stem}-reliability.png)\n\n"
        f"![Precision by share found]({stem}-curves.png)\n"
    )
    return "\n\n".join(parts)


def _judged(findings: Findings) -> str:
    if findings.part == TEST:
        return ""
    return "The lines are meant for the test half; here they are held against development.\n\n"


def _facts_table(findings: Findings) -> str:
    """Give what the sets hold, and what became of the rows of their annotations."""
    rows = []
    for course in findings.courses:
        if course in WHOLE_MAPS:
            counts = WHOLE_MAPS[course].counts
            facts = (
                counts.concepts, counts.pairs, counts.positives, counts.positives / counts.pairs,
                counts.repeats, counts.contradictions,
            )  # fmt: skip
            rows.append(
                [
                    course,
                    *(f"{n:.2%}" if n < 1 and isinstance(n, float) else f"{n:,}" for n in facts),
                ]
            )
    heads = ["set", "topics", "annotated pairs", "positive", "share", "repeats", "contradictions"]
    return markdown_table(heads, rows).rstrip() if rows else ""


def _bodies(findings: Findings) -> Iterable[tuple[str, list[str], list[list[str]]]]:
    """Give each table: title, headings, rows; a row without any number is left out."""
    for course in findings.courses:
        kinds = {"pairs": PAIR_COLUMNS, "the map": MAP_COLUMNS}
        if course in DIRECT_STEPS:
            kinds = {"the map": WAY_COLUMNS}
        shares: tuple[Known, ...] = ("half", "fifth")
        for known in shares:
            cells = findings.of(course, known)
            for kind, columns in kinds.items() if cells else ():
                written = [[_title(cell.method), *_written(cell, columns)] for cell in cells]
                heads = ["method", *(head for _, head, _ in columns)]
                rows = [row for row in written if any(row[1:])]
                yield f"{_about(course, known)}: {kind}", heads, rows
    rates = _base_rates(findings)
    if rates:
        heads = ["set", "known", *(head for _, head, _ in BASE_RATE_COLUMNS)]
        yield BASE_RATE_TITLE, heads, rates


def _base_rates(findings: Findings) -> list[list[str]]:
    """Give what our own model promises, and would promise if it had expected another base rate."""
    cells = [
        cell for cell in findings.cells if cell.method == OURS and cell.course not in DIRECT_STEPS
    ]
    return [
        [cell.course, KNOWN_WORDS[cell.known], *_written(cell, BASE_RATE_COLUMNS)]
        for cell in sorted(cells, key=lambda cell: cell.course)
    ]


def _written(cell: Cell, columns: Sequence[tuple[str, str, str]]) -> list[str]:
    found = []
    for metric, _, form in columns:
        value = cell.value(metric)
        text = "" if value is None else format(value, form)
        low, high = cell.intervals.get(metric, (None, None))
        if text and metric in WITH_INTERVALS and low is not None and high is not None:
            text += f" ({low:{form}} to {high:{form}})"
        found.append(text)
    return found


def _rows(findings: Findings) -> Iterable[list[object]]:
    for cell in findings.cells:
        for metric, value in cell.metrics.items():
            yield [
                cell.course,
                cell.known,
                cell.method,
                metric,
                value,
                *cell.intervals.get(metric, (None, None)),
            ]


def _lines_table(findings: Findings) -> Table:
    title = f"Lines, {findings.part} half"
    if findings.part == TEST:
        title += f" (run at {findings.commit} on {findings.date})"
    return Table(title, HEADS, [line.row() for line in map_lines(findings, OURS)])


def _about(course: str, known: Known) -> str:
    return course if course in DIRECT_STEPS else f"{course}, a {known} known"


def _title(name: str) -> str:
    return TITLES.get(name) or experiment_settings().title(name)
