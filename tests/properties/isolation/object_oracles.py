"""Sets and counters by their operational meaning: try every order of a few transactions."""

from __future__ import annotations

from itertools import chain, combinations, permutations

from paraply.vocabulary.client_history import AccessKind, DataType, Ending

MONOTONIC, AT_SERVER = "monotonic reads", "monotonic reads at one server"


def reads(history):
    """Return each committed read as (transaction, place of the access, key, value)."""
    return [
        (one, place, access.key, access.value)
        for one in history.transactions
        if one.ending is Ending.COMMITTED
        for place, access in enumerate(one.accesses)
        if access.kind is AccessKind.READ
    ]


def is_explained(history, reader, place):
    """Some order in real time, of all that committed and some of unknown ending, shows the read."""
    committed = [one for one in history.transactions if one.ending is Ending.COMMITTED]
    unknown = [one for one in history.transactions if one.ending is Ending.INDETERMINATE]
    some = chain.from_iterable(combinations(unknown, count) for count in range(len(unknown) + 1))
    return any(
        _state(history, order, reader, place) == _value(history, reader.accesses[place].value)
        for happened in some
        for order in permutations([*committed, *happened])
        if _keeps_real_time(order)
    )


def _keeps_real_time(order):
    return not any(
        later.completed < earlier.invoked
        for place, earlier in enumerate(order)
        for later in order[place + 1 :]
    )


def _state(history, order, reader, place):
    key = reader.accesses[place].key
    done = []
    for one in order:
        stop = place if one is reader else len(one.accesses)
        done += [
            value for kind, other, value in one.accesses[:stop]
            if kind is not AccessKind.READ and other == key
        ]  # fmt: skip
        if one is reader:
            break
    return _total(history, done)


def _total(history, written):
    return sum(written) if history.data_type is DataType.COUNTER else sorted(written)


def _value(history, value):
    return value if history.data_type is DataType.COUNTER else sorted(value)


def final_values(history):
    """Return, by key and server, the last value read after every confirmed write.

    Where a key has none, the last value read after every confirmed write of the key.
    """
    writers = {
        key: [
            other for other in history.transactions
            if other.ending is Ending.COMMITTED
            and any(kind is not AccessKind.READ and k == key for kind, k, _ in other.accesses)
        ]
        for key in "xy"
    }  # fmt: skip
    found = {}
    for key in (key for key in writers if writers[key]):
        for waited in ([*chain(*writers.values())], writers[key]):
            values = {
                one.node: value
                for one, _, other, value in reads(history)
                if other == key and all(each.completed < one.invoked for each in waited)
            }
            if values:
                found[key] = values
                break
    return found


def lost(history):
    """Return the keys (of counters) or keys and elements (of sets) that no server kept."""
    gone = set()
    for key, values in final_values(history).items():
        written = [
            value for one in history.transactions if one.ending is Ending.COMMITTED
            for kind, k, value in one.accesses if kind is not AccessKind.READ and k == key
        ]  # fmt: skip
        if history.data_type is DataType.COUNTER:
            if all(value < sum(written) for value in values.values()):
                gone.add(key)
        else:
            gone |= {
                (key, one) for one in written if not any(one in each for each in values.values())
            }
    return gone


def goes_back(history, *, at_server):
    """Return the names of readers that show less than an earlier read of their session."""
    found = set()
    every = [each for each in reads(history) if each[0].session]
    for number, (later, _, key, value) in enumerate(every):
        for earlier, _, other_key, shown in every[:number]:
            is_one_place = earlier.node == later.node != "" if at_server else True
            if earlier.session != later.session or key != other_key or not is_one_place:
                continue
            if history.data_type is DataType.COUNTER:
                is_less = value < shown
            else:
                is_less = any(value.count(one) < shown.count(one) for one in shown)
            if is_less:
                found.add(later.name)
    return found


def is_prefix(history, one):
    """Some state of the log, without the transaction itself, shows all that it read."""
    by_number = {each.number: each for each in history.transactions}
    for count in range(len(history.log) + 1):
        before = history.log[:count]
        if one.number in before:
            continue
        fits = True
        for place, (kind, key, value) in enumerate(one.accesses):
            if kind is AccessKind.READ:
                done = [
                    v for each in (*(by_number[n].accesses for n in before), one.accesses[:place])
                    for k, other, v in each if k is not AccessKind.READ and other == key
                ]  # fmt: skip
                fits = fits and _total(history, done) == _value(history, value)
        if fits:
            return True
    return False
