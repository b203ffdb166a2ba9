"""The reliability plot: a dot for each bin, the diagonal it is judged by."""

from __future__ import annotations

from proprl.evaluation.metrics import Bin
from proprl.report.reliability import LARGEST, SMALLEST, reliability_plot

RIGHT = Bin(0.2, 0.3, pairs=40, said=0.25, came_true=0.25)
TOO_SURE = Bin(0.8, 0.9, pairs=10, said=0.85, came_true=0.5)


def test_nothing_scored_nothing_drawn() -> None:
    assert reliability_plot([]) is None


def test_a_bin_that_keeps_its_word_lies_on_the_diagonal_and_a_too_sure_one_below() -> None:
    plot = reliability_plot([RIGHT, TOO_SURE])
    assert plot is not None
    start, end = plot.diagonal.removeprefix("M").split("L")
    (x0, y0), (x1, y1) = (map(float, point.split()) for point in (start, end))

    def height(x: float) -> float:
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)

    right, too_sure = plot.dots
    assert abs(right.y - height(right.x)) < 0.1
    assert too_sure.y > height(too_sure.x) + 50  # downwards on the page


def test_a_dot_of_more_pairs_is_larger() -> None:
    plot = reliability_plot([RIGHT, TOO_SURE])
    assert plot is not None
    right, too_sure = plot.dots
    assert right.radius == LARGEST
    assert too_sure.radius == SMALLEST + (LARGEST - SMALLEST) / 2  # area: a quarter of the pairs


def test_it_is_told_in_words_too() -> None:
    plot = reliability_plot([TOO_SURE])
    assert plot is not None
    assert plot.description == "10 pairs given 0.85 on average: 0.50 came true."
