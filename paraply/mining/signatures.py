"""Signatures: what two counterexamples have in common when names are taken away.

The *shape* of a breach describes the transactions that the breach names: what sort they are and
which of them conflict, renamed T1, T2, ... in source order. A *signature* adds the actions that
the history consists of; it means something once the history is small, because a random history
does much that has nothing to do with the breach.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from paraply.properties.registry import Violation
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionKind
from paraply.vocabulary.write_set import sorted_items

NAMED_MAX = 4
"""Transactions that a shape lists; of a breach that names more it has their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What sort of counterexample it is.

    Attributes:
        prop: the property broken.
        breach: class of the first breach.
        shape: the transactions it names and how they conflict.
        actions: what happens in the history, each action once, in the order of first occurrence.
    """

    prop: str
    breach: str
    shape: str
    actions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return it as one line."""
        actions = f" | {' '.join(self.actions)}" if self.actions else ""
        return f"{self.prop} | {self.breach} | {self.shape}{actions}"


def shape_signature(prop: str, violations: Sequence[Violation], history: History) -> Signature:
    """Return the signature without actions, which suits histories that are not small yet."""
    breach = violations[0]
    return Signature(prop=prop, breach=type(breach).__name__, shape=shape_of(breach, history))


def full_signature(prop: str, violations: Sequence[Violation], history: History) -> Signature:
    """Return the signature of a small history."""
    plain = shape_signature(prop, violations, history)
    return Signature(
        prop=plain.prop, breach=plain.breach, shape=plain.shape, actions=actions_of(history)
    )


def shape_of(breach: Violation, history: History) -> str:
    """Return the shape of one breach, such as ``T1 rows, T2 ddl; T1-T2``."""
    named = sorted(set(transactions_named(breach)))
    known = {int(transaction.id): transaction for transaction in history.transactions}
    involved = [known[number] for number in named if number in known]
    if not involved:
        return "no transaction named"
    if len(involved) > NAMED_MAX:
        return f"{len(involved)} transactions"
    return ", ".join(
        f"T{number} {_sort_of(transaction)}" for number, transaction in enumerate(involved, 1)
    ) + _conflicts(involved)


def transactions_named(breach: Violation) -> Iterable[int]:
    """Yield the numbers of the transactions that a breach names, by the types of its fields.

    0 is the initial state, which is no transaction.
    """
    for field in fields(breach):  # type: ignore[arg-type]  # Every breach is a dataclass.
        if "TransactionId" in str(field.type):
            yield from _numbers(getattr(breach, field.name))


def _numbers(value: Any) -> Iterable[int]:
    if isinstance(value, int):
        if value:
            yield value
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            yield from _numbers(each)


def _sort_of(transaction: Transaction) -> str:
    if transaction.kind is TransactionKind.ROWS and not transaction.write_set:
        return "empty"
    return transaction.kind.value


def _conflicts(involved: Sequence[Transaction]) -> str:
    edges = [
        f"T{first}-T{second}"
        for second, one in enumerate(involved, 1)
        for first, other in enumerate(involved[: second - 1], 1)
        if one.conflicts_with(other)
    ]
    return f"; {' '.join(edges)}" if edges else ""


def actions_of(history: History) -> tuple[str, ...]:
    """Return what happens, each action once, with its outcome where it has one."""
    return tuple(
        dict.fromkeys(
            event.kind.value + (f"={event.outcome.value}" if event.outcome else "")
            for event in history.events
            if event.kind is not EventKind.READ
        )
    )


def canonical_digest(history: History) -> str:
    """Return a digest of a history with members, transactions and rows renamed.

    Members are numbered as events first name them, transactions in source order, rows as write
    sets first name them. Histories that differ in names only have one digest.
    """
    members: dict[str, int] = {}
    rows: dict[object, int] = {}
    numbers: dict[int, int] = {0: 0}
    words: list[object] = []
    for transaction in history.transactions:
        numbers[transaction.id] = len(numbers)
        written = [rows.setdefault(item, len(rows)) for item in sorted_items(transaction.write_set)]
        words.append((transaction.kind.value, tuple(written)))
    for event in history.events:
        words.append(
            (
                event.kind.value,
                members.setdefault(event.member, len(members)),
                numbers.get(event.transaction or 0, 0),
                numbers.get(event.other or 0, 0),
                event.outcome.value if event.outcome else "",
                event.attempt,
            )
        )
    return hashlib.blake2b(repr(words).encode(), digest_size=8).hexdigest()
