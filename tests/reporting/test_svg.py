from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.reporting.pictures.path import path_picture, reason_colour, reasons_by_frequency
from paraply.reporting.pictures.svg import Axis, pixel
from paraply.reporting.pictures.svg_charts import (
    Bar,
    Series,
    _spread,
    area_chart,
    bar_chart,
    speedup_chart,
)
from tests.builders.audit_results import holding_result


@pytest.mark.parametrize(
    ("high", "ticks"),
    [
        (10, [0, 2, 4, 6, 8, 10]),
        (7, [0, 2, 4, 6]),
        (1_234, [0, 500, 1_000]),
        (1, [0, 1]),
    ],
)
def test_ticks_are_round_numbers_inside_the_scale(high, ticks):
    axis = Axis(low=0, high=high, start=0, end=100, label="")
    assert axis.ticks(step_min=1) == ticks


def test_scale_of_a_single_value_does_not_divide_by_zero():
    axis = Axis(low=5, high=5, start=10, end=90, label="")
    assert axis.at(5) == 10
    assert axis.ticks() == [5]


@given(st.lists(st.floats(0, 200), min_size=1, max_size=8))
def test_labels_keep_their_order_and_their_distance_and_stay_inside(positions):
    placed = _spread(positions, gap=16, highest=200)
    order = sorted(range(len(positions)), key=lambda index: (positions[index], index))
    for before, after in itertools.pairwise(order):
        assert placed[after] - placed[before] >= 16 - 1e-9
    assert max(placed) <= 200


def test_lone_label_stays_where_its_curve_ends():
    assert _spread([42.0], gap=16, highest=200) == [42.0]


@pytest.mark.parametrize(("value", "text"), [(3.0, "3"), (3.14159, "3.1"), (0.04, "0")])
def test_coordinates_are_short(value, text):
    assert pixel(value) == text


def test_curve_of_one_worker_count_is_drawn():
    drawn = speedup_chart(
        [Series(name="one", points=[(4, 2.0)], marked=4)], title="t", description="d"
    )
    assert 'class="knee"' in drawn


def test_speed_below_one_by_rounding_is_drawn_at_one():
    points = [(1, 1.0), (2, 0.9999)]
    drawn = speedup_chart([Series(name="flat", points=points)], title="t", description="d")
    assert "nan" not in drawn


def test_bar_of_nothing_has_no_height():
    drawn = bar_chart(
        [Bar(label="1", meaning="one", value=0)], title="t", description="d", x="x", y="y"
    )
    assert 'height="0"' in drawn


def test_widths_of_nothing_are_drawn_on_the_floor():
    assert "nan" not in area_chart([(1, 0), (2, 0)], title="t", description="d", x="x", y="y")


def test_path_has_an_arc_for_each_wait_and_a_dot_for_each_transaction():
    links = holding_result().critical_path
    drawn = path_picture(links)
    assert drawn.count('class="node"') == len(links)
    assert drawn.count('class="arc') == len(links) - 1


def test_wait_for_a_transaction_that_was_left_out_is_a_gap():
    links = holding_result().critical_path
    drawn = path_picture([*links[:10], *links[20:]])
    assert drawn.count('class="arc') == len(links) - 10 - 2


def test_rare_reasons_share_the_last_colour():
    links = holding_result().critical_path
    named = reasons_by_frequency(links)
    assert named[0] == "shop.counters.PRIMARY(1)"
    assert {reason_colour(link, named[:1]) for link in links[1:]} == {0, 5}
