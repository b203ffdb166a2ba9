"""One run of an experiment: everything that determines its result, and its name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from proprl.models.registry import method_settings

WHOLE_MAP = "whole-map"
"""The name of the protocol, in runs and on the command line."""
BACKGROUND, REFIT = "background", "refit"
"""In what runs of a method may differ from its usual ones, as rows of a table name it."""
# Raised whenever the meaning of a result changes, so that old results are not taken for new.
_RESULT_VERSION = 4
# The same for a single method, when it comes to other results with the same settings.
_METHOD_REVISIONS = {"sequitur": 12, "trees": 2}
# Fields that runs did not have when others were kept. With these values they are left out of the
# key, so that the results kept then are still found.
_ADDED_SINCE: dict[str, Any] = {"background": "none", "refit": False}


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
    """A control: labels that say nothing must teach nothing."""
    part: Literal["test", "validation", "development"] = "test"
    """The pairs that are scored. Settings are chosen on validation, or on a map's development
    half."""
    watched: bool = False
    """Whether the similarity of pairs is followed from epoch to epoch."""
    label_share: float = 1.0
    """The share of the training and validation pairs that is known."""
    background: Literal["none", "auto"] = "none"
    """Whether unlabelled pairs are learned from; on a whole map they always are."""
    refit: bool = False
    """Whether validation pairs choose first, and are then learned from with the training pairs."""

    @property
    def row(self) -> str:
        """The row of a table that the run belongs to.

        >>> Run("svm", "mooc").row, Run("svm", "mooc", refit=True).row
        ('svm', 'svm+refit')
        """
        return row_of(asdict(self))

    def __str__(self) -> str:
        """Name the run as one line of a progress bar or an error does."""
        words = {"published": f"seed {self.seed}", WHOLE_MAP: f"{self.part}, draw {self.fold}"}
        repeat = words.get(self.protocol, f"fold {self.fold}")
        fewer = "" if self.label_share == 1 else f", {self.label_share:.3g} of its labels"
        return f"{self.row} on {self.course}, {repeat}{fewer}"

    def key(self, data: str) -> str:
        """Give the name under which the result on that data is kept.

        A preset may change from one version to the next; what it stands for is what counts.
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
    """Give the row that a kept run belongs to: its method, and in what it differs from the usual.

    >>> row_of({"method": "svm"}), row_of({"method": "sequitur", "background": "auto"})
    ('svm', 'sequitur+background')
    """
    differs = {
        BACKGROUND: run.get("background", "none") != "none",
        REFIT: run.get("refit", False),
    }
    return "+".join([run["method"], *(name for name, does in differs.items() if does)])


def method_of(row: str) -> str:
    """Give the method of a row.

    >>> method_of("sequitur+background")
    'sequitur'
    """
    return row.partition("+")[0]
