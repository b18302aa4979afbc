"""MySQL's way of counting acknowledgements finds what is meant, and its bug does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.reference_impl.semi_sync.acknowledgements import AckContainer, Acknowledgements
from paraply.registries import mutant_named

replies = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 9)), max_size=30)
BUG_109829 = ((1, 120), (2, 120), (1, 150), (1, 170), (3, 150), (4, 200))


def released(count, replies):
    """Return the released position after each reply; a replica's replies never go back."""
    highest, after = {}, []
    for replica, position in replies:
        highest[replica] = max(position, highest.get(replica, 0))
        count.report(f"r{replica}", highest[replica])
        after.append(count.released)
    return after


@given(required=st.integers(1, 5), replies=replies)
def test_slots_release_exactly_what_enough_replicas_have(required, replies):
    meant = released(Acknowledgements(required), replies)
    assert released(AckContainer(required), replies) == meant


@given(required=st.integers(1, 5), replies=replies)
def test_released_position_is_had_by_enough_and_the_next_is_not(required, replies):
    count, highest = Acknowledgements(required), {}
    for replica, position in replies:
        highest[replica] = max(position, highest.get(replica, 0))
        count.report(f"r{replica}", highest[replica])
    having = [sum(at >= position for at in highest.values()) for position in range(1, 11)]
    assert count.released == sum(one >= required for one in having)


def test_last_smaller_slot_releases_what_three_of_four_have():
    faulty = mutant_named("least_slot_is_the_last_smaller").module(AckContainer.__module__)
    assert released(faulty.AckContainer(4), BUG_109829)[-1] == 150
    assert released(AckContainer(4), BUG_109829)[-1] == 120


@pytest.mark.parametrize("kind", [Acknowledgements, AckContainer])
def test_fork_of_a_count_goes_its_own_way(kind):
    count = kind(2)
    count.report("r1", 5)
    twin = count.fork()
    twin.report("r2", 4)
    assert (count.released, twin.released) == (0, 4)
    assert count.of("r2") != twin.of("r2")
