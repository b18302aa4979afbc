"""What is decided comes out once, in total order, and only if it was decided."""

from __future__ import annotations

import pytest

from paraply.adapters.group_wire.tcp import reassemble
from paraply.adapters.group_wire.xcom import ACCEPT, LEARN, SKIP, TINY_LEARN, decided, read_messages
from paraply.vocabulary.errors import ParaplyError
from tests.builders.group_wire import cargo, paxos, stream


def _decided(*messages: bytes, cut=1000):
    order = decided(read_messages(reassemble(stream(b"".join(messages), cut=cut))))
    return [(tuple(place), [c.data for c in cargos]) for _, place, cargos in order]


def test_values_are_in_the_order_of_their_places_not_of_their_arrival():
    messages = []
    for place in [(3, 1), (2, 0), (3, 0)]:
        messages.append(paxos(ACCEPT, place, cargos=cargo(4, repr(place).encode())))
        messages.append(paxos(TINY_LEARN, place))
    assert _decided(*messages, cut=7) == [
        ((2, 0), [b"(2, 0)"]), ((3, 0), [b"(3, 0)"]), ((3, 1), [b"(3, 1)"]),
    ]  # fmt: skip


def test_value_that_nobody_was_told_of_is_not_decided():
    assert _decided(paxos(ACCEPT, (1, 0), cargos=cargo(4, b"v"))) == []


def test_value_of_the_ballot_that_won_counts():
    lost = paxos(ACCEPT, (1, 0), cargos=cargo(4, b"lost"), ballot=(0, 0))
    won = paxos(ACCEPT, (1, 0), cargos=cargo(4, b"won"), ballot=(1, 2))
    assert _decided(lost, won, paxos(TINY_LEARN, (1, 0), ballot=(1, 2))) == [((1, 0), [b"won"])]


def test_place_given_up_holds_nothing():
    proposed = paxos(ACCEPT, (1, 0), cargos=cargo(4, b"v"))
    assert _decided(proposed, paxos(LEARN, (1, 0), no_op=True)) == []
    assert _decided(proposed, paxos(SKIP, (1, 0))) == []


def test_batch_gives_each_of_its_values_in_order():
    batch = cargo(4, b"one", more=True) + cargo(14, more=True) + cargo(4, b"two")
    assert _decided(paxos(LEARN, (1, 0), cargos=batch)) == [((1, 0), [b"one", b"", b"two"])]


def test_view_tells_who_is_present():
    message = paxos(LEARN, (1, 0), cargos=cargo(12, present=(True, False, True)))
    [(_, _, (view,))] = decided(read_messages(reassemble(stream(message))))
    assert view.present == (True, False, True)


def test_told_of_a_value_that_was_never_seen_is_a_user_error():
    with pytest.raises(ParaplyError, match=r"P641.*not seen"):
        _decided(paxos(TINY_LEARN, (1, 0)))


def test_two_values_at_one_place_are_refused():
    with pytest.raises(ParaplyError, match=r"P642.*two values"):
        _decided(
            paxos(LEARN, (1, 0), cargos=cargo(4, b"a")), paxos(LEARN, (1, 0), cargos=cargo(4, b"b"))
        )


def test_encrypted_traffic_is_named_as_such():
    with pytest.raises(ParaplyError, match=r"P642.*TLS"):
        _decided(b"\x16\x03\x01\x06\x1a" + bytes(20))


@pytest.mark.parametrize("size", range(1, 60, 7))
def test_message_cut_short_is_a_user_error(size):
    whole = paxos(LEARN, (1, 0), cargos=cargo(4, b"value"))
    body = whole[12:-size]
    message = whole[:4] + len(body).to_bytes(4, "big") + whole[8:12] + body
    with pytest.raises(ParaplyError, match=r"P642"):
        _decided(message)
