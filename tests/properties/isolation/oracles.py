"""Isolation levels by their operational meaning: try every order. For a handful of transactions."""

from __future__ import annotations

from itertools import permutations, product

from paraply.vocabulary.client_history import AccessKind, DataType, Ending


def is_serializable(history, must_precede=()):
    """Some order of all transactions, run one after the other, shows what was read."""
    return any(
        all(_explains(state, transaction, history) for state, transaction in _run(order, history))
        for order in _orders(history, must_precede)
    )


def is_snapshot_isolated(history, must_precede=()):
    """Some order of commits, and a snapshot of a prefix for each, shows what was read.

    Of two transactions that write one key, one is in the snapshot of the other. With an order of
    transactions, what precedes must be in the snapshot.
    """
    for order in _orders(history, must_precede):
        states = [state for state, _ in _run(order, history)]
        if all(
            any(
                _explains(states[snapshot], one, history)
                and not any(_share_writes(one, other) for other in order[snapshot:place])
                and not any(
                    (other.number, one.number) in must_precede for other in order[snapshot:place]
                )
                for snapshot in range(place + 1)
            )
            for place, one in enumerate(order)
        ):
            return True
    return False


def shows_prefixes(history):
    """Each transaction sees the state after some prefix of the log, without itself."""
    by_number = {one.number: one for one in history.transactions}
    states = [{}]
    for number in history.log:
        states.append(_after(states[-1], by_number[number], history))
    return all(
        any(
            _explains(state, one, history)
            for place, state in enumerate(states)
            if one.number not in history.log[:place]
        )
        for one in history.transactions
        if one.ending is Ending.COMMITTED
    )


def precedence(history, *, session=False, realtime=False):
    pairs = set()
    for one, other in product(history.transactions, repeat=2):
        if session and one.session and one.session == other.session and one.number < other.number:
            pairs.add((one.number, other.number))
        if realtime and one.completed < other.invoked:
            pairs.add((one.number, other.number))
    return pairs


def _orders(history, must_precede):
    for order in permutations(history.transactions):
        place = {one.number: number for number, one in enumerate(order)}
        if all(place[before] < place[after] for before, after in must_precede):
            yield order


def _run(order, history):
    state = {}
    for transaction in order:
        yield state, transaction
        state = _after(state, transaction, history)


def _after(state, transaction, history):
    state = dict(state)
    for kind, key, value in transaction.accesses:
        if kind is not AccessKind.READ:
            state[key] = _written(state.get(key), value, history)
    return state


def _written(before, value, history):
    if history.data_type is DataType.LIST:
        return (*(before or ()), value)
    return value


def _explains(state, transaction, history):
    """Return whether the transaction, on this snapshot, reads what it read."""
    empty = () if history.data_type is DataType.LIST else None
    own = dict(state)
    for kind, key, value in transaction.accesses:
        if kind is AccessKind.READ:
            if own.get(key, empty) != value:
                return False
        else:
            own[key] = _written(own.get(key), value, history)
    return True


def _share_writes(one, other):
    return bool(_written_keys(one) & _written_keys(other))


def _written_keys(transaction):
    return {key for kind, key, _ in transaction.accesses if kind is not AccessKind.READ}
