"""Every experiment by its name."""

from __future__ import annotations

from proprl.errors import ProprlError
from proprl.experiments.running.run import REASONS, WHOLE_MAP
from proprl.experiments.show.pages import Experiment
from proprl.experiments.studies.case_study import case_study
from proprl.experiments.studies.faults import faults
from proprl.experiments.studies.figure1 import figure1
from proprl.experiments.studies.hyper import hyper
from proprl.experiments.studies.labels import label_curve
from proprl.experiments.studies.ours import ours
from proprl.experiments.studies.reasons import reasons
from proprl.experiments.studies.table1_and_2 import table1, table2
from proprl.experiments.studies.table3 import table3
from proprl.experiments.studies.tune import tune
from proprl.experiments.studies.whole_map import whole_map

PARTS_OF_ALL: dict[str, Experiment] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "figure1": figure1,
    "case-study": case_study,
    "hyper": hyper,
    "faults": faults,
}
"""What `all` runs."""
EXPERIMENTS: dict[str, Experiment] = {
    **PARTS_OF_ALL,
    "ours": ours,
    "labels": label_curve,
    "tune": tune,
    WHOLE_MAP: whole_map,
    REASONS: reasons,
}
"""The last five are not in the paper. They run only when they are asked for by name."""
ALL = "all"


def find_experiments(name: str) -> dict[str, Experiment]:
    """Give the experiment of that name, or those of `all`; else an error lists the known names."""
    if name == ALL:
        return PARTS_OF_ALL
    if name not in EXPERIMENTS:
        known = ", ".join([*EXPERIMENTS, ALL])
        raise ProprlError(f"there is no experiment {name!r}; known: {known}")
    return {name: EXPERIMENTS[name]}
