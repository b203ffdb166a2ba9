"""The metrics in words that need no statistics."""

MEANING = {
    "accuracy": "share of pairs judged rightly",
    "f1": "balance of precision and recall",
    "precision": "believed prerequisites that are right",
    "recall": "true prerequisites that are found",
    "auc": "chance that a true pair scores above a false one",
    "average_precision": "precision, averaged down the ranking",
    "calibration_error": "how far probabilities are from what comes true",
    "ordered_share": "true pairs scored above their reverse",
    "one_way_ordered": "the same, without pairs that hold both ways",
    "mean_margin": "by how much true pairs score above their reverse",
    "mutual_share": "pairs believed in both directions",
    "pairs": "labelled pairs scored",
    "positives": "of which prerequisites",
    "threshold": "cut-off used for these figures only: from here on a pair counts as a yes",
    "base_rate": "expected share of prerequisites among pairs that no label settles",
}
