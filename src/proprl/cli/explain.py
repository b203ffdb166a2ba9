"""`proprl explain`: why one concept is believed to be needed before another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from proprl.cli.console import escape, print_json, say
from proprl.cli.options import BundleOrCourse, Json

if TYPE_CHECKING:
    from proprl.curriculum.explanation import Explanation


def explain(
    data: BundleOrCourse,
    first: Annotated[str, typer.Argument(help="The concept to be learned first: name or id.")],
    then: Annotated[str, typer.Argument(help="The concept to be learned then: name or id.")],
    as_json: Json = False,
) -> None:
    """Say what speaks for FIRST being needed before THEN, and what against it.

    Example: proprl explain campus "Limits" "Derivatives"
    """
    from proprl.cli.model_of import model_of

    why = model_of(data).explain(first, then)
    if as_json:
        print_json(_as_json(why))
        return
    for line in str(why).splitlines():
        say(escape(line))


def _as_json(why: Explanation) -> dict[str, Any]:
    told = len(why.told)
    return {
        "before": why.source_id,
        "after": why.target_id,
        "before_name": why.source,
        "after_name": why.target,
        "probability": why.probability,
        "reverse_probability": why.reverse_probability,
        "base_rate": why.base_rate,
        "threshold": why.threshold,
        "label": why.label and why.label[0],
        "reverse_label": why.reverse_label and why.reverse_label[0],
        "log_odds": {"base": why.base, "kinds": dict(why.kinds)},
        "reasons": [
            {
                "kind": reason.kind,
                "sentence": reason.sentence,
                "worth": reason.worth,
                "told": place < told,
                **reason.evidence,
            }
            for place, reason in enumerate(why.reasons)
        ],
        "not_named": {"log_odds": why.untold, "share": why.untold_share},
        "branches": dict(why.branches),
        "branch_weights": dict(why.branch_weights),
        "gate": why.gate,
        "facts": list(why.facts),
    }
