"""Client histories as short as the thought: ``lists("ax1 ay1", "ax2 ry", "rx12")``.

A transaction is a text of accesses: ``ax1`` appends 1 to x, ``wx1`` writes it, ``rx12`` reads the
list [1 2] or (of registers) ``rx1`` the value 1, ``rx`` reads nothing. ``A:`` before it names the
session, ``fail`` or ``info`` after it the ending. One after the other unless ``at`` says when.
Of sets ``+x1`` adds 1 to x; of counters ``+x2`` increments x by 2. ``A@m1:`` also names the server.
"""

from __future__ import annotations

from paraply.vocabulary.client_history import (
    Access,
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
)


def lists(*texts, log=None, at=None):
    return _history(DataType.LIST, texts, log, at)


def registers(*texts, log=None, at=None):
    return _history(DataType.REGISTER, texts, log, at)


def sets(*texts, log=None, at=None):
    return _history(DataType.SET, texts, log, at)


def counters(*texts, log=None, at=None):
    return _history(DataType.COUNTER, texts, log, at)


def _history(data_type, texts, log, at):
    transactions = []
    for number, text in enumerate(texts, start=1):
        session, _, accesses = text.rpartition(":")
        session, _, node = session.partition("@")
        words = accesses.split()
        ending = Ending.COMMITTED
        if words and words[-1] in ("fail", "info"):
            ending = Ending(words.pop())
        begin, end = at[number - 1] if at else (2 * number, 2 * number + 1)
        transactions.append(
            ClientTransaction(
                number=number,
                ending=ending,
                accesses=tuple(_access(word, data_type) for word in words),
                session=session,
                invoked=begin,
                completed=end,
                node=node,
            )
        )
    return ClientHistory(data_type=data_type, transactions=tuple(transactions), log=log)


def _access(word, data_type):
    kind, key, rest = word[0], word[1], word[2:]
    if kind == "a":
        return Access(AccessKind.APPEND, key, int(rest))
    if kind == "w":
        return Access(AccessKind.WRITE, key, int(rest))
    if kind == "+":
        is_set = data_type is DataType.SET
        return Access(AccessKind.ADD if is_set else AccessKind.INCREMENT, key, int(rest))
    assert kind == "r"
    if data_type is DataType.COUNTER:
        return Access(AccessKind.READ, key, int(rest or 0))
    if data_type in (DataType.LIST, DataType.SET):
        return Access(AccessKind.READ, key, tuple(int(digit) for digit in rest))
    return Access(AccessKind.READ, key, int(rest) if rest else None)
