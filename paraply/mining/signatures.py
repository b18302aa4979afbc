"""Signatures of counterexamples, independent of names.

A *shape* has a breach's transactions (T1, T2, ... in source order), kinds and conflicts. A
*signature* adds actions, meaningful after minimising.
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
"""Larger breaches show their number only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The sort of a counterexample.

    Attributes:
        breach: the first breach's class.
        actions: distinct, by first occurrence.
    """

    prop: str
    breach: str
    shape: str
    actions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return one line."""
        actions = f" | {' '.join(self.actions)}" if self.actions else ""
        return f"{self.prop} | {self.breach} | {self.shape}{actions}"


def shape_signature(prop: str, violations: Sequence[Violation], history: History) -> Signature:
    """Return the signature without actions."""
    breach = violations[0]
    return Signature(prop=prop, breach=type(breach).__name__, shape=shape_of(breach, history))


def full_signature(prop: str, violations: Sequence[Violation], history: History) -> Signature:
    """Return a minimised history's signature."""
    plain = shape_signature(prop, violations, history)
    return Signature(
        prop=plain.prop, breach=plain.breach, shape=plain.shape, actions=actions_of(history)
    )


def shape_of(breach: Violation, history: History) -> str:
    """Return a shape, such as ``T1 rows, T2 ddl; T1-T2``."""
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
    """Yield transactions by field types; 0 is no transaction."""
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
    """Return distinct actions with their outcomes."""
    return tuple(
        dict.fromkeys(
            event.kind.value + (f"={event.outcome.value}" if event.outcome else "")
            for event in history.events
            if event.kind is not EventKind.READ
        )
    )


def canonical_digest(history: History) -> str:
    """Return a digest that ignores names.

    Numbers members by events, transactions by source order, rows by write sets.
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
