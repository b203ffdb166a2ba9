"""How similar pairs are, followed from epoch to epoch."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch

from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.experiments.running.similarity import KINDS, SimilarityWatch


def split_of(positives: list[list[int]], negatives: list[list[int]]) -> PairSplit:
    def part(pairs: list[list[int]], labels: list[int]) -> LabelledPairs:
        return LabelledPairs(np.array(pairs).reshape(-1, 2), np.array(labels, dtype=np.int64))

    train = part([*positives, *negatives], [1] * len(positives) + [0] * len(negatives))
    rest = part([], [])
    return PairSplit(train, rest, rest, "given", promises_reversed=False)


def test_a_watch_sees_the_last_representations_of_every_epoch() -> None:
    X = np.eye(5)
    scorer = SimpleNamespace(encoded={"view": torch.eye(5), "fused": torch.eye(5)})
    watch = SimilarityWatch(scorer, X, split_of([[0, 1]], [[1, 2]]))
    for lean in (0.0, 1.0, 3.0):  # concept 1 turns towards concept 0
        H = torch.eye(5)
        H[1, 0] = lean
        scorer.encoded["fused"] = H
        watch.step()
    positives, negatives, others = (watch.seen[kind] for kind in KINDS)
    assert positives["before"] == positives["first"] == [0.0]
    assert [q[1] for q in positives["quartiles"]] == [0.0, 0.707107, 0.948683]
    assert positives["last"] == [0.948683]  # 3 / sqrt(10)
    assert negatives["last"] == [0.0]
    assert len(others["last"]) == 1


def test_random_non_edges_are_related_by_no_label_in_either_order() -> None:
    """Of the six pairs of four concepts four are labelled, so these two are left."""
    split = split_of([[0, 1], [1, 2], [2, 3]], [[3, 0]])
    watch = SimilarityWatch(SimpleNamespace(), np.eye(4), split)
    drawn = watch.pairs["random non-edges"].tolist()
    assert sorted(sorted(pair) for pair in drawn) == [[0, 2], [1, 3]]
