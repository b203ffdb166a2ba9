"""How good scores are: metrics as functions of arrays, and the choices made on validation."""

from proprl.evaluation.calibration import Bin, calibration_error, reliability
from proprl.evaluation.metrics import (
    accuracy,
    auc,
    average_precision,
    best_threshold,
    evaluate_scores,
    f1,
    mean_margin,
    mutual_share,
    ordered_share,
    precision,
    recall,
    simplex_weights,
)

__all__ = [
    "Bin",
    "accuracy",
    "auc",
    "average_precision",
    "best_threshold",
    "calibration_error",
    "evaluate_scores",
    "f1",
    "mean_margin",
    "mutual_share",
    "ordered_share",
    "precision",
    "recall",
    "reliability",
    "simplex_weights",
]
