"""Every method by its name."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import ValidationError

from proprl.errors import ProprlError, UnknownMethodError
from proprl.models.base import PairScorer, Settings
from proprl.models.proprl import ProPRLScorer, without
from proprl.models.rivals.conlearn import ConLearnScorer
from proprl.models.rivals.dgcpl import DGCPLScorer
from proprl.models.rivals.gae import GAEScorer, VGAEScorer
from proprl.models.rivals.gkrom import GKROMScorer
from proprl.models.rivals.hgapnet import HGAPNetScorer
from proprl.models.rivals.lcpre import LCPREScorer
from proprl.models.rivals.mhavgae import MHAVGAEScorer
from proprl.models.rivals.nb_svm_rf import NaiveBayesScorer, RandomForestScorer, SVMScorer
from proprl.models.rivals.prereq import PrereqScorer
from proprl.models.rivals.refd import RefDScorer
from proprl.models.rivals.rvgae import RVGAEScorer
from proprl.models.rivals.trees import TreesScorer
from proprl.models.sequitur import SequiturScorer

METHODS: dict[str, type[PairScorer]] = {
    "proprl": ProPRLScorer,
    "proprl-without-gate": without(gate=False),  # both views count half in every pair
    "proprl-without-propagation": without(k=0),  # Z = Q
    "proprl-without-irreversibility": without(lam=0.0),  # both directions of a pair may be believed
    "sequitur": SequiturScorer,
    "trees": TreesScorer,
    "dgcpl": DGCPLScorer,
    "conlearn": ConLearnScorer,
    "gkrom": GKROMScorer,
    "nb": NaiveBayesScorer,
    "svm": SVMScorer,
    "rf": RandomForestScorer,
    "refd": RefDScorer,
    "gae": GAEScorer,
    "vgae": VGAEScorer,
    "rvgae": RVGAEScorer,
    "mhavgae": MHAVGAEScorer,
    "prereq": PrereqScorer,
    "lcpre": LCPREScorer,
    "hgapnet": HGAPNetScorer,
}


def method(name: str) -> type[PairScorer]:
    """Give the method of that name; an unknown name is an error that lists the known ones."""
    if name not in METHODS:
        raise UnknownMethodError(f"there is no method {name!r}; known: {', '.join(METHODS)}")
    return METHODS[name]


def method_settings(name: str, preset: str = "default", **changes: Any) -> Settings:
    """Give a method's settings: a preset, with changes.

    >>> method_settings("proprl", "paper", alpha=0.2).alpha
    0.2
    """
    scorer = method(name)
    if preset not in scorer.presets:
        raise ProprlError(f"{name} has no preset {preset!r}; known: {', '.join(scorer.presets)}")
    try:
        return scorer.settings_type(**{**scorer.presets[preset], **changes})
    except ValidationError as error:
        raise ProprlError(_settings_message(name, scorer, error)) from error


def _settings_message(name: str, scorer: type[PairScorer], error: ValidationError) -> str:
    known = list(scorer.settings_type.model_fields)
    lines = [f"wrong settings for {name}:"]
    for item in error.errors():
        key = ".".join(str(part) for part in item["loc"])
        line = f"  {key}: {item['msg']} (found {item['input']!r})"
        if item["type"] == "extra_forbidden":
            near = difflib.get_close_matches(key, known)
            line = f"  {key}: no such setting; " + (
                f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            )
        lines.append(line)
    return "\n".join(lines)
