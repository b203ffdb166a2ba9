"""One run of an experiment: everything that determines its result, and its name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from proprl.models.registry import method_settings

Result = dict[str, Any]
"""The result of a run, as it is kept."""

WHOLE_MAP = "whole-map"
"""The name of the protocol, in runs and on the command line."""
REASONS = "reasons"
"""The same of the runs that remove what explanations name."""
BACKGROUND, REFIT = "background", "refit"
"""How runs of a method may differ from its usual ones, as rows of a table name it."""
# Raised whenever the meaning of a result changes: an old result is then not taken for a new one.
_RESULT_VERSION = 4
# The same for a single method, when the same settings lead it to other results.
_METHOD_REVISIONS = {"sequitur": 12, "trees": 2}
# Results were kept before runs had these fields. With these values the fields are left out of the
# key, so that those results are still found.
_ADDED_SINCE = {BACKGROUND: "none", REFIT: False}


@dataclass(frozen=True)
class Run:
    """Everything that determines one result."""

    method: str
    course: str
    """The name of a public set, of a bundled course, or a folder."""
    protocol: str = "published"
    fold: int = 0
    """Which fold (leak-free) or draw (new-concepts, whole-map); 0 under `published`."""
    seed: int = 0
    preset: str = "default"
    changes: dict[str, Any] = field(default_factory=dict)
    alignment: str = "fixed"
    encoder: str = "auto"
    shuffled_labels: bool = False
    """Whether labels are shuffled: a control, from which no method may learn anything."""
    part: Literal["test", "validation", "development"] = "test"
    """The pairs that are scored. A map has a development half instead of validation pairs."""
    watched: bool = False
    """Whether the similarity of pairs is followed from epoch to epoch."""
    label_share: float = 1.0
    """The share of the training and validation pairs whose labels are known."""
    background: Literal["none", "auto"] = "none"
    """Whether unlabelled pairs are learned from; on a whole map they always are."""
    refit: bool = False
    """Whether the method is fitted again on training and validation pairs together, once the
    validation pairs have chosen the threshold."""

    @property
    def row(self) -> str:
        """The row of a table that the run belongs to."""
        return row_of(asdict(self))

    def __str__(self) -> str:
        """Name the run, as progress bars and errors do."""
        words = {"published": f"seed {self.seed}", WHOLE_MAP: f"{self.part}, draw {self.fold}"}
        repeat = words.get(self.protocol, f"fold {self.fold}")
        fewer = "" if self.label_share == 1 else f", {self.label_share:.3g} of its labels"
        return f"{self.row} on {self.course}, {repeat}{fewer}"

    def key(self, data: str) -> str:
        """Give the name under which the result on that data is kept.

        It is made from the settings that the preset stands for: a preset may change.
        """
        settings = method_settings(self.method, self.preset, **self.changes).model_dump(mode="json")
        parts = {**asdict(self), "settings": settings, "data": data, "version": _RESULT_VERSION}
        for name, usual in _ADDED_SINCE.items():
            if parts[name] == usual:
                del parts[name]
        if self.method in _METHOD_REVISIONS:
            parts["revision"] = _METHOD_REVISIONS[self.method]
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def row_of(run: Mapping[str, Any]) -> str:
    """Give the row that a kept run belongs to: its method, and how it differs from the usual.

    >>> row_of({"method": "svm"}), row_of({"method": "sequitur", "background": "auto"})
    ('svm', 'sequitur+background')
    """
    variants = [name for name, usual in _ADDED_SINCE.items() if run.get(name, usual) != usual]
    return "+".join([run["method"], *variants])


def method_of(row: str) -> str:
    """Give the method of a row.

    >>> method_of("sequitur+background")
    'sequitur'
    """
    return row.partition("+")[0]
