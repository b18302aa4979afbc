"""A history as text: transactions in the table of WL#8440, events in lanes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from paraply.reporting.escape import shortened, visible
from paraply.reporting.event_words import event_words, items_text
from paraply.reporting.page import page
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

LANE_WIDTH_MIN = 14
ITEMS_LENGTH_MAX = 40
COORDINATOR = 0

Lane = tuple[str, int | None, str]
"""Member, worker (0 is the coordinator, None unassigned) and client session."""

_REMARKS = {
    TransactionKind.NO_WRITE_SET: "no write set",
    TransactionKind.DDL: "DDL",
    TransactionKind.CTAS: "CREATE TABLE ... SELECT",
    TransactionKind.VIEW_CHANGE: "view change",
}


def transaction_table(history: History) -> list[str]:
    """Return the table ``Trx | WS | trx.LC | trx.SN`` with other differences.

    Timestamps are the source log's, else certification's, by member if different. A single
    certifier's purges appear between transactions, as in the document.
    """
    stamps = _stamps(history)
    lines: list[tuple[str, str, str, str, str]] = []
    listed = {transaction.id: transaction for transaction in history.transactions}
    for event in _purges_of_a_single_certifier(history):
        if event.kind is EventKind.GARBAGE_COLLECTED:
            purged = items_text(event.items) or "nothing"
            lines.append(("", "", "", "", f"garbage collection, purged: {purged}"))
        elif event.transaction is not None and event.transaction in listed:
            transaction = listed.pop(event.transaction)
            lines.append(_table_line(transaction, stamps[transaction.id]))
    lines += [_table_line(one, stamps[one.id]) for one in listed.values()]
    return _columns(("Trx", "WS", "trx.LC", "trx.SN", ""), lines)


def lanes(history: History, marks: Mapping[int, str] | None = None) -> list[str]:
    """Return the events by lane, with steps.

    ``marks`` adds remarks below events by index.
    """
    columns = _lanes_of(history.events)
    names = _lane_names(columns)
    words = [event_words(event, history) for event in history.events]
    step_width = max(4, *(len(str(event.time)) for event in history.events), 0) \
        if history.events else 4  # fmt: skip
    widths = _lane_widths(columns, names, words, history.events, page().width - step_width)
    if page().is_plain:
        return _sentences(history, names, words, marks or {})
    if widths is None:
        return _one_lane(history, columns, names, words, step_width, marks or {})
    head = f"{'step':>{step_width}}" + "".join(
        f"  {names[column]:<{widths[column]}}" for column in columns
    )
    rule = "-" * step_width + "".join(f"  {'-' * widths[column]}" for column in columns)
    lines = [head.rstrip(), rule]
    previous: int | None = None
    for index, event in enumerate(history.events):
        lane = lane_of(event)
        before = sum(widths[column] + 2 for column in columns[: columns.index(lane)])
        time = "" if event.time == previous else str(event.time)
        previous = event.time
        for part in textwrap.wrap(words[index], widths[lane]) or [""]:
            lines.append(f"{time:>{step_width}}  {' ' * before}{part}")
            time = ""
        if marks and index in marks:
            lines += _mark(marks[index], step_width)
    return lines


def _one_lane(
    history: History,
    columns: Sequence[Lane],
    names: Mapping[Lane, str],
    words: Sequence[str],
    step_width: int,
    marks: Mapping[int, str],
) -> list[str]:
    width = max(len(names[column]) for column in columns)
    lines = [f"{'step':>{step_width}}  {'who':<{width}}  what"]
    for index, event in enumerate(history.events):
        who = names[lane_of(event)]
        lines.append(f"{event.time:>{step_width}}  {who:<{width}}  {words[index]}")
        if index in marks:
            lines += _mark(marks[index], step_width)
    return lines


def _sentences(
    history: History,
    names: Mapping[Lane, str],
    words: Sequence[str],
    marks: Mapping[int, str],
) -> list[str]:
    lines = []
    for index, event in enumerate(history.events):
        lines.append(f"Step {event.time}, {names[lane_of(event)]}: {words[index]}.")
        if index in marks:
            lines.append(f"This {visible(marks[index])}.")
    return lines


def _mark(text: str, step_width: int) -> list[str]:
    lead = f"{'>>>':>{step_width}}  "
    lines = textwrap.wrap(
        visible(text), page().width, initial_indent=lead, subsequent_indent=" " * len(lead)
    )
    return [page().alarm(line) for line in lines]


def _lanes_of(events: Iterable[Event]) -> list[Lane]:
    found = list(dict.fromkeys(lane_of(event) for event in events))
    members = list(dict.fromkeys(member for member, _, _ in found))
    return sorted(
        found,
        key=lambda lane: (
            members.index(lane[0]),
            bool(lane[2]),
            -1 if lane[1] is None else lane[1],
            lane[2],
        ),
    )


def lane_of(event: Event) -> Lane:
    """Return the event's lane."""
    is_reading = event.kind in (EventKind.READ, EventKind.CLIENT_ACKNOWLEDGED)
    return event.member, event.worker, event.session if is_reading else ""


def lane_names_of(history: History) -> dict[Lane, str]:
    """Return the lanes from left to right, with names."""
    return _lane_names(_lanes_of(history.events))


def _lane_names(columns: Sequence[Lane]) -> dict[Lane, str]:
    is_alone = len({member for member, _, _ in columns}) == 1
    names = {}
    for member, worker, session in columns:
        part = session
        if not part and worker is not None:
            part = "coordinator" if worker == COORDINATOR else f"worker {worker}"
        name = part or member if is_alone else f"{member} {part}".rstrip()
        names[member, worker, session] = shortened(name, 24)
    return names


def _lane_widths(
    columns: Sequence[Lane],
    names: Mapping[Lane, str],
    words: Sequence[str],
    events: Sequence[Event],
    room: int,
) -> dict[Lane, int] | None:
    widths = {column: len(names[column]) for column in columns}
    for event, text in zip(events, words, strict=True):
        widths[lane_of(event)] = max(widths[lane_of(event)], len(text))
    least = {column: max(LANE_WIDTH_MIN, len(names[column])) for column in columns}
    while sum(width + 2 for width in widths.values()) > room:
        widest = max(columns, key=lambda column: widths[column] - least[column])
        if widths[widest] <= least[widest]:
            return None
        widths[widest] -= 1
    return widths


def _purges_of_a_single_certifier(history: History) -> list[Event]:
    certified = list(history.events_of(EventKind.CERTIFIED))
    if len({event.member for event in certified}) != 1:
        return []
    return list(
        history.events_of(
            EventKind.CERTIFIED, EventKind.GARBAGE_COLLECTED, member=certified[0].member
        )
    )


def _stamps(history: History) -> dict[TransactionId, dict[str, LogicalTimestamp | str]]:
    stamps: dict[TransactionId, dict[str, LogicalTimestamp | str]] = {
        transaction.id: {"": transaction.timestamp} if transaction.timestamp else {}
        for transaction in history.transactions
    }
    for event in history.events_of(EventKind.CERTIFIED, EventKind.FLUSHED):
        if event.transaction is None:
            continue
        if event.timestamp is not None:
            stamps[event.transaction][event.member] = event.timestamp
        elif event.kind is EventKind.CERTIFIED:
            is_refused = event.outcome is Outcome.NEGATIVE
            stamps[event.transaction][event.member] = "refused" if is_refused else "local"
    return stamps


def _table_line(
    transaction: Transaction, stamps: Mapping[str, LogicalTimestamp | str]
) -> tuple[str, str, str, str, str]:
    numbers = {
        member: (str(stamp.last_committed), str(stamp.sequence_number))
        for member, stamp in stamps.items()
        if isinstance(stamp, LogicalTimestamp)
    }
    remarks = [_REMARKS[transaction.kind]] if transaction.kind in _REMARKS else []
    for word in ("refused", "local"):
        where = [member for member, stamp in stamps.items() if stamp == word]
        if where:
            remarks.append(word if len(stamps) == 1 else f"{word} on {', '.join(where)}")
    if transaction.session:
        remarks.append(f"session {transaction.session}")
    return (
        f"T{transaction.id}",
        shortened(items_text(transaction.write_set), ITEMS_LENGTH_MAX),
        agreed({member: last_committed for member, (last_committed, _) in numbers.items()}),
        agreed({member: number for member, (_, number) in numbers.items()}),
        ", ".join(remarks),
    )


def agreed(values: Mapping[str, str]) -> str:
    """Return the common value, or each member's."""
    if len(set(values.values())) <= 1:
        return next(iter(values.values()), "")
    return ", ".join(f"{member} {value}" for member, value in values.items() if member)


def _columns(
    heading: tuple[str, str, str, str, str], lines: Sequence[tuple[str, str, str, str, str]]
) -> list[str]:
    widths = [max(len(line[place]) for line in (heading, *lines)) for place in range(4)]

    def drawn(line: tuple[str, str, str, str, str]) -> str:
        cells = " | ".join(f"{line[place]:<{widths[place]}}" for place in range(4))
        remark = f"  ({visible(line[4])})" if line[4] else ""
        return (visible(cells) + remark).rstrip()

    if page().is_plain:
        return [_transaction_sentence(line) for line in lines]
    rule = "-" * (sum(widths) + 9)
    return [rule, drawn(heading), rule, *(drawn(line) for line in lines)]


def _transaction_sentence(line: tuple[str, str, str, str, str]) -> str:
    name, items, last_committed, number, remark = line
    parts = [f"writes {items}" if items else "writes nothing known"]
    if number:
        parts.append(f"last_committed {last_committed}, sequence_number {number}")
    if remark:
        parts.append(remark)
    return visible(f"{name}: {'; '.join(parts)}." if name else f"{remark}.")
