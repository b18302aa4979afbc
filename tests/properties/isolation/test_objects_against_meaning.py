"""Sets and counters against their operational meaning, on small random histories."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.properties.isolation.objects import judge_objects
from paraply.vocabulary.client_history import (
    Access,
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
)
from tests.properties.isolation.object_oracles import (
    AT_SERVER,
    MONOTONIC,
    final_values,
    goes_back,
    is_explained,
    is_prefix,
    lost,
    reads,
)

OBJECTS = (DataType.SET, DataType.COUNTER)


@st.composite
def object_histories(
    draw, data_type, *, endings=tuple(Ending), transactions_max=5, repeats=True, finals=0
):
    """Anything that might be recorded: reads are near a sum or subset of what was written.

    Without ``repeats`` no transaction writes a key twice, so a read of a key cannot be torn.
    """
    chance = draw(st.randoms(use_true_random=False))
    transactions, busy_until, element = [], {}, 0
    for number in range(1, chance.randint(1, transactions_max) + 1):
        ending = chance.choice(endings) if chance.random() < 0.4 else Ending.COMMITTED
        accesses = []
        keys = chance.choices("xxy", k=2) if repeats else ["x", "y"]
        for key in keys[: chance.randint(1, 2)]:
            if chance.random() < 0.5:
                element += 1
                if data_type is DataType.SET:
                    accesses.append(Access(AccessKind.ADD, key, element))
                else:
                    accesses.append(Access(AccessKind.INCREMENT, key, 1))
            elif ending is Ending.COMMITTED:
                accesses.append(Access(AccessKind.READ, key, None))
        begin = 3 * number + chance.randint(0, 4)
        end = begin + chance.choice((1, 1, 4, 9))
        session = chance.choice("AB")
        if busy_until.get(session, 0) > begin:
            session = ""
        busy_until[session] = end
        transactions.append(
            ClientTransaction(
                number=number, ending=ending, accesses=tuple(accesses), session=session,
                invoked=2 * begin, completed=2 * end + 1, node=chance.choice(("m1", "m2")),
            )
        )  # fmt: skip
    # Later reads of all, which may be final reads of one server or of several.
    for number in range(transactions_max + 1, transactions_max + 1 + chance.randint(0, finals)):
        transactions.append(
            ClientTransaction(
                number=number, ending=Ending.COMMITTED, session="C", invoked=100 * number,
                accesses=(Access(AccessKind.READ, "x", None), Access(AccessKind.READ, "y", None)),
                completed=100 * number + 1, node=chance.choice(("m1", "m2")),
            )
        )  # fmt: skip
    transactions.sort(key=lambda one: one.invoked)
    written = {"x": [], "y": []}
    for one in transactions:
        for kind, key, value in one.accesses:
            if kind is not AccessKind.READ:
                written[key].append(value)
    shown = [
        one._replace(
            accesses=tuple(
                access._replace(value=_read(access, written[access.key], data_type, chance))
                for access in one.accesses
            )
        )
        for one in transactions
    ]
    return ClientHistory(data_type=data_type, transactions=tuple(shown))


def _read(access, written, data_type, chance):
    if access.kind is not AccessKind.READ:
        return access.value
    if data_type is DataType.COUNTER:
        return chance.randint(0, len(written) + (chance.random() < 0.2))
    likely = chance.choice((0.5, 0.9, 1))
    elements = [one for one in written if chance.random() < likely]
    if elements and chance.random() < 0.1:
        elements.append(chance.choice((elements[0], 99)))
    return tuple(elements)


def findings(history):
    return {one.phenomenon.label: one for one in judge_objects(history)}


@pytest.mark.long
@pytest.mark.parametrize("data_type", OBJECTS, ids=lambda one: one.value)
def test_read_breaks_its_bounds_exactly_where_no_order_explains_it(data_type):
    labels = ["stale read", "counter too high"]
    if data_type is DataType.SET:
        labels = ["stale read", "G1a", "garbage", "duplicate element", "internal"]
    reached = Counter()

    @settings(max_examples=300)
    @given(history=object_histories(data_type, repeats=False))
    def check(history):
        # One read at a time: several together would ask for one order of them all.
        for reader, place, _, _ in reads(history):
            kept = reader._replace(
                accesses=tuple(
                    access for number, access in enumerate(reader.accesses)
                    if access.kind is not AccessKind.READ or number == place
                )
            )  # fmt: skip
            others = tuple(
                kept if one is reader else one._replace(
                    accesses=tuple(
                        each for each in one.accesses if each.kind is not AccessKind.READ
                    )
                )
                for one in history.transactions
            )  # fmt: skip
            alone = replace(history, transactions=others)
            found = findings(alone)
            broken = [label for label in labels if found[label].breaches]
            where = next(
                number for number, one in enumerate(kept.accesses) if one.kind is AccessKind.READ
            )
            reached[bool(broken)] += 1
            assert bool(broken) != is_explained(alone, kept, where)

    check()
    assert reached[True] > 5
    assert reached[False] > 5


@pytest.mark.long
@pytest.mark.parametrize("data_type", OBJECTS, ids=lambda one: one.value)
def test_losses_and_reads_that_go_back_are_those_of_the_definition(data_type):
    label = "lost element" if data_type is DataType.SET else "lost increment"
    reached = Counter()

    @settings(max_examples=400)
    @given(history=object_histories(data_type, finals=3))
    def check(history):
        found = findings(history)
        told = {
            (one.key, one.element) if data_type is DataType.SET else one.key
            for one in found[label].breaches
        }
        assert told == lost(history)
        for guarantee, at_server in ((MONOTONIC, False), (AT_SERVER, True)):
            later = {one.later for one in found[guarantee].breaches}
            assert later == goes_back(history, at_server=at_server)
            reached[guarantee] += bool(later)
        reached[label] += bool(told)
        ends = final_values(history)
        reached["final"] += any(len(servers) > 1 for servers in ends.values())
        if Ending.INDETERMINATE not in {one.ending for one in history.transactions}:
            differs = any(
                len({str(sorted(v) if isinstance(v, tuple) else v) for v in servers.values()}) > 1
                for servers in ends.values()
            )
            assert bool(found["final reads"].breaches) == differs

    check()
    assert all(reached[name] > 5 for name in (label, MONOTONIC, AT_SERVER, "final"))


def is_of_the_log(history, one):
    """Whether all that the transaction read is in the log, and it read nothing after its writes."""
    written = {"x": [], "y": []}
    for each in history.transactions:
        for kind, key, value in each.accesses:
            if kind is not AccessKind.READ:
                written[key].append(value)
    own = {key: [] for key in written}
    for kind, key, value in one.accesses:
        if kind is not AccessKind.READ:
            own[key].append(value)
    before = set()
    for kind, key, value in one.accesses:
        if kind is not AccessKind.READ:
            before.add(key)
        elif key in before:
            return False
        elif history.data_type is DataType.COUNTER:
            if value > sum(written[key]) - sum(own[key]):
                return False
        elif len(set(value)) < len(value) or not {*value} <= {*written[key]} - {*own[key]}:
            return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("data_type", OBJECTS, ids=lambda one: one.value)
def test_prefix_is_refuted_exactly_where_no_state_of_the_log_fits(data_type):
    reached = Counter()

    @settings(max_examples=300)
    @given(history=object_histories(data_type, endings=(Ending.COMMITTED,)), data=st.data())
    def check(history, data):
        writers = [
            one.number
            for one in history.transactions
            if any(access.kind is not AccessKind.READ for access in one.accesses)
        ]
        logged = replace(history, log=tuple(data.draw(st.permutations(writers))))
        broken = {one.reader for one in findings(logged)["prefix"].breaches}
        for one in logged.transactions:
            fits = is_prefix(logged, one)
            if is_of_the_log(logged, one):
                reached[fits] += 1
                assert (one.name in broken) != fits
            else:
                # Other findings have these reads; this one must not be wrong.
                assert not (one.name in broken and fits)

    check()
    assert reached[True] > 5
    assert reached[False] > 5
