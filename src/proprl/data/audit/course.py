"""All checks over one course."""

from __future__ import annotations

from collections.abc import Iterator

from proprl.data.audit.alignment import Alignment, alignment_findings
from proprl.data.audit.finding import Audit, Finding, LabelledRows, Severity
from proprl.data.audit.labels import coverage_findings, hub_findings, label_findings
from proprl.data.audit.leaks import leak_findings
from proprl.data.course import Course

_ORDER: tuple[Severity, ...] = ("error", "warning", "note", "ok")


def audit_course(course: Course) -> Audit:
    """Return what in a course would mislead a model or flatter its results, gravest first.

    Every row of `course.labels` is looked at, in all parts: an audit judges the data, and nothing
    is learned from it. A check that lacks its table stands in `skipped` with the reason.
    """
    rows = LabelledRows.of(course) if course.labels is not None and len(course.labels) else None
    found = sorted(_findings(course, rows), key=lambda finding: _ORDER.index(finding.severity))
    kinds = {finding.kind for finding in found}
    return Audit(course.name, tuple(found), dict(_skipped(course, rows, kinds)))


def _findings(course: Course, rows: LabelledRows | None) -> Iterator[Finding]:
    transitions, incidence = course.transition_matrix(), course.incidence()
    if rows is not None:
        yield from leak_findings(rows)
        yield from label_findings(rows)
        yield from hub_findings(rows)
    alignment = Alignment.of(rows, transitions, incidence, len(course))
    links = 0 if transitions is None else int(transitions.nnz)
    yield from alignment_findings(alignment, rows, links)
    yield from coverage_findings(course.names, rows, transitions, incidence)


def _skipped(
    course: Course, rows: LabelledRows | None, kinds: set[str]
) -> Iterator[tuple[str, str]]:
    if rows is None:
        yield "labels", "the course has no labelled pairs"
    elif len(rows.present_parts()) < 2:
        yield "leaks", "the pairs name no two parts (column split)"
    behaviour = course.transitions is not None or course.interactions is not None
    if not behaviour:
        yield "concepts_without_behaviour", "the course has no behaviour"
    if course.resources is None:
        yield "concepts_without_resource", "the course has no resources"
    unclear = "no shift stands out: the tables of this course have too little in common"
    if rows is not None and "label_shift" not in kinds:
        yield "label_shift", unclear
    if behaviour and "behaviour_shift" not in kinds:
        yield "behaviour_shift", unclear
