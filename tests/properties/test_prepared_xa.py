"""Prepared XA transactions: what is kept tells itself apart, within its bounds."""

from __future__ import annotations

from dataclasses import replace

from paraply.properties.logs.prepared_xa import PreparedXa
from paraply.vocabulary.log import LoggedKind
from tests.builders.logged import transaction


def prepared(number):
    return transaction(number, "a", kind=LoggedKind.XA, xa_id=f"X'{number}',X'',1")


def kept(*numbers, **bounds):
    waiting = PreparedXa(**bounds)
    for number in numbers:
        waiting.prepare(prepared(number))
    return waiting


def test_states_that_differ_are_described_differently():
    states = [kept(), kept(1), kept(2), kept(1, 2), kept(2, 1), kept(1, 2, transactions_max=1)]
    assert len({one.described() for one in states}) == len(states)
    ended = kept(1)
    assert ended.end(prepared(1).xa_id).transaction == prepared(1)
    assert ended.described() == kept().described()


def test_oldest_is_forgotten_at_the_bound_and_that_is_remembered():
    waiting = kept(1, 2, 3, transactions_max=2)
    assert waiting.forgotten
    assert waiting.end(prepared(1).xa_id) is None
    assert waiting.end(prepared(2).xa_id).transaction == prepared(2)
    assert not kept(1, 2, transactions_max=2).forgotten


def test_two_parts_end_as_the_whole():
    whole = kept(1, 2)
    whole.end(prepared(1).xa_id)
    first, second = kept(1), PreparedXa()
    second.begin()
    second.prepare(replace(prepared(2), ordinal=1))
    second.end(prepared(1).xa_id)
    first.go_on(second, 1)
    whole.move(-1)
    assert first.described() == whole.described()
