"""Random client histories: whatever might be recorded, and what a database would show."""

from __future__ import annotations

from hypothesis import strategies as st

from paraply.vocabulary.client_history import (
    Access,
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
)

VERSIONED = [one for one in DataType if one.has_versions]


@st.composite
def recorded_histories(draw, data_type, *, transactions_max=4, keys="xy", accesses_max=3):
    """Anything: reads of versions that need not fit together, all of them written by someone."""
    plans = draw(
        st.lists(
            st.lists(
                st.tuples(st.booleans(), st.sampled_from(keys)), min_size=1, max_size=accesses_max
            ),
            min_size=1,
            max_size=transactions_max,
        )
    )
    write = AccessKind.APPEND if data_type is DataType.LIST else AccessKind.WRITE
    values, written = iter(range(1, 100)), {key: [] for key in keys}
    writes = [[next(values) if is_write else None for is_write, _ in plan] for plan in plans]
    for plan, given in zip(plans, writes, strict=True):
        for (is_write, key), value in zip(plan, given, strict=True):
            if is_write:
                written[key].append(value)
    orders = {key: draw(st.permutations(found)) for key, found in written.items()}
    transactions, busy_until = [], {}
    for number, (plan, given) in enumerate(zip(plans, writes, strict=True), start=1):
        accesses = []
        for (is_write, key), value in zip(plan, given, strict=True):
            if is_write:
                accesses.append(Access(write, key, value))
                continue
            count = draw(st.integers(0, len(orders[key])))
            seen = tuple(orders[key][:count])
            if data_type is DataType.REGISTER:
                seen = seen[-1] if seen else None
            accesses.append(Access(AccessKind.READ, key, seen))
        begin = number + draw(st.integers(0, 1))
        end = begin + draw(st.integers(0, 3))
        session = draw(st.sampled_from("AB"))
        if busy_until.get(session, 0) > begin:
            session = ""
        busy_until[session] = end + 1
        transactions.append(
            ClientTransaction(
                number=number,
                ending=Ending.COMMITTED,
                accesses=tuple(accesses),
                session=session,
                invoked=2 * begin,
                completed=2 * end + 1,
            )
        )
    return ClientHistory(data_type=data_type, transactions=tuple(transactions))


@st.composite
def database_histories(draw, data_type, *, transactions_max=30, lag_max=0, keys_max=4):
    """What a database shows whose transactions read a snapshot up to ``lag_max`` commits old.

    With no lag it is serial; with some it loses updates and skews reads.
    """
    count = draw(st.integers(1, transactions_max))
    keys = draw(st.integers(1, keys_max))
    chance = draw(st.randoms(use_true_random=False))
    write = AccessKind.APPEND if data_type is DataType.LIST else AccessKind.WRITE
    states, value, transactions, log = [{}], 0, [], []
    for number in range(1, count + 1):
        snapshot = states[-1 - chance.randint(0, min(lag_max, len(states) - 1))]
        own, accesses, added = dict(snapshot), [], []
        for _ in range(chance.randint(1, 4)):
            key = chance.randrange(keys)
            if chance.random() < 0.5:
                value += 1
                accesses.append(Access(write, key, value))
                added.append((key, value))
                own[key] = _written(own.get(key), value, data_type)
            else:
                empty = () if data_type is DataType.LIST else None
                accesses.append(Access(AccessKind.READ, key, own.get(key, empty)))
        after = dict(states[-1])
        for key, one in added:
            after[key] = _written(after.get(key), one, data_type)
        states.append(after)
        if added:
            log.append(number)
        transactions.append(
            ClientTransaction(
                number=number,
                ending=Ending.COMMITTED,
                accesses=tuple(accesses),
                session=f"s{chance.randrange(3)}",
                invoked=4 * number,
                completed=4 * number + 2 + 4 * lag_max,
            )
        )
    return ClientHistory(data_type=data_type, transactions=tuple(transactions), log=tuple(log))


def _written(before, value, data_type):
    return (*(before or ()), value) if data_type is DataType.LIST else value
