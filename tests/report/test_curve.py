"""The learning curve: two panels, the kept epoch marked, missing values left open."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.report.curve import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, panels

EPOCHS = [(0.9, 0.60), (0.6, 0.81), (0.5, 0.79)]


def test_one_panel_for_each_quantity_with_the_kept_epoch_marked() -> None:
    loss, auc = panels(EPOCHS, best_epoch=1)
    assert (loss.title, auc.title) == ("Training loss", "AUC on validation pairs")
    assert loss.mark is not None
    assert auc.mark is not None
    assert loss.mark.text == "epoch 2 kept: 0.600"
    assert auc.mark.text == "epoch 2 kept: 0.810"
    assert loss.mark.x == auc.mark.x
    assert [tick.text for tick in auc.x_ticks] == ["1", "2", "3"]


def test_without_validation_only_the_loss_is_drawn() -> None:
    (loss,) = panels([(0.9, None), (0.6, None)], best_epoch=1)
    assert loss.key == "loss"


def test_no_epochs_no_panels() -> None:
    assert panels([], best_epoch=-1) == []


def test_a_missing_value_breaks_the_line() -> None:
    epochs = [(1.0, 0.5), (1.0, 0.6), (1.0, None), (1.0, 0.7), (1.0, math.nan), (1.0, None)]
    _, auc = panels(epochs, best_epoch=2)
    assert len(auc.lines) == 1
    assert len(auc.dots) == 1
    assert auc.mark is None


def test_the_axis_of_the_auc_ends_at_one() -> None:
    _, auc = panels([(1.0, 1.0), (1.0, 1.0)], best_epoch=0)
    assert auc.y_ticks[-1].text.rstrip("0") == "1."


@pytest.mark.parametrize("count", [1, 2, 10, 11, 50, 123, 1000])
def test_epoch_numbers_leave_room_between_them(count: int) -> None:
    panel, *_ = panels([(1.0, None)] * count, best_epoch=0)
    places = [tick.at for tick in panel.x_ticks]
    assert panel.x_ticks[0].text == "1"
    assert len(places) <= 11
    assert places == sorted(set(places))


numbers = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(numbers, st.none() | st.floats(0, 1)), min_size=1, max_size=60))
def test_every_point_lies_in_the_frame_and_ticks_read_apart(
    epochs: list[tuple[float, float | None]],
) -> None:
    for panel in panels(epochs, best_epoch=len(epochs) - 1):
        points = [tuple(map(float, p.split(","))) for line in panel.lines for p in line.split()]
        for x, y in [*points, *panel.dots]:
            assert LEFT - 0.1 <= x <= WIDTH - RIGHT + 0.1
            assert TOP - 0.1 <= y <= HEIGHT - BOTTOM + 0.1
        texts = [tick.text for tick in panel.y_ticks]
        assert 2 <= len(texts) <= 8
        assert len(set(texts)) == len(texts)
