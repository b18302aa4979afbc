"""Logical timestamps in WL#8440's table: Trx | WS | trx.LC | trx.SN."""

from __future__ import annotations

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionKind
from paraply.vocabulary.write_set import format_item, sorted_items

RULE = "-" * 65
HEADING = "Trx  | WS       | trx.LC  | trx.SN"


def format_timestamp_table(history: History, member: str, *, boot: bool = True) -> str:
    """Return the timestamps of ``member`` as a table.

    ``boot`` adds the document's first line. Refused and local transactions have no numbers.
    """
    names = transaction_names(history)
    lines = [RULE, HEADING, RULE]
    if boot:
        lines.append(_line("", "", "", "0", "(group boot)"))
    for event in history.events:
        if event.member == member:
            lines.extend(_lines_of(event, history, names))
    return "\n".join(lines) + "\n"


def transaction_names(history: History) -> dict[int, str]:
    """Return T1, T2, ... by number, without view changes."""
    names: dict[int, str] = {}
    for transaction in history.transactions:
        if transaction.kind is not TransactionKind.VIEW_CHANGE:
            names[transaction.id] = f"T{len(names) + 1}"
    return names


def _lines_of(event: Event, history: History, names: dict[int, str]) -> list[str]:
    if event.kind is EventKind.GARBAGE_COLLECTED:
        purged = ", ".join(format_item(item) for item in sorted_items(event.items)) or "nothing"
        return [_line("", "", "", "", f"(garbage collection, purged: {purged})")]
    if event.kind is not EventKind.CERTIFIED or event.transaction is None:
        return []
    transaction = history.transaction(event.transaction)
    if transaction.kind is TransactionKind.VIEW_CHANGE:
        return [_line("", "", "0", "0", "(view change)")]
    name = names[transaction.id]
    items = _items_of(transaction)
    if event.outcome is Outcome.NEGATIVE:
        return [_line(name, items, "", "", "(refused)")]
    if event.timestamp is None:
        return [_line(name, items, "", "", "(local)")]
    stamp = event.timestamp
    return [_line(name, items, str(stamp.last_committed), str(stamp.sequence_number), "")]


def _items_of(transaction: Transaction) -> str:
    return ", ".join(format_item(item) for item in sorted_items(transaction.write_set))


def _line(name: str, items: str, last_committed: str, number: str, remark: str) -> str:
    line = f"{name:<4} | {items:<8} | {last_committed:<7} | {number:<2}"
    return f"{line} {remark}".rstrip()
