"""A map to export whose names and ids hold what formats take for syntax."""

from __future__ import annotations

from proprl.exchange.content import Concept, Content, Prerequisite

AWKWARD = (
    '"quoted"',
    "[brackets] {braces} (parentheses)",
    "two\nlines",
    "<b>R&amp;D</b>",
    "=1+1",
    "back\\slash\\",
    "Ableitungen, größer → 微分 🙂",
    "# 1. list -- > |x| `code` %% ;",
    "@sum",
    "%3",
)


def awkward_content(names: tuple[str, ...] = AWKWARD) -> Content:
    """Each concept is needed before the next one; ids are as awkward as names."""
    status = ("confirmed", "learned", "implied")
    return Content(
        'A "course"',
        tuple(Concept(name, name, f"topic of {name}") for name in dict.fromkeys(names)),
        tuple(
            Prerequisite(k, k + 1, (k % 10) / 10, status[k % 3], f"{name} comes first.")
            for k, name in enumerate(list(dict.fromkeys(names))[:-1])
        ),
    )
