"""A short notation of histories for tests and reports.

::

    subject=applier seed=7
    | T1{a b} 2<1
    | T2{b} 3<2 +d.t[1,"x"]
    | T3:ddl statement="DROP TABLE t"
    | begun T1@w1 ; begun T2@w2 ; row_applied T2@w2 {b} duplicate_key
    ; rolled_back T2@w2 ; engine_committed T1@r2 time=9 ; read @r2 session=c1 [a=T1 b=T0]

``|`` separates an optional header, each transaction, and the events; ``;`` separates events. Line
ends are blanks. JSON fields are ``name=value``; some have a shorthand:

=====================  ====================================================================
``T2``                 transaction 2; ``T0`` in a reading is the initial state
``T2:ddl``             its kind, omitted for ``rows``
``{a 7 "x y"}``        items: of a write set, of a row, or purged
``3<2``                sequence_number 3, last_committed 2
``+t[1,"x"]``          row inserted (``-`` deleted, ``~t[before][after]`` updated), as JSON
``@r2/w1``             member r2, worker 1; ``@r2`` no worker, ``@w1`` worker of member r1
``#2``                 the second attempt
``ok``                 an outcome
``[a=T1 b=T0]``        versions that a reader saw
``time=9``             omitted for one more than before (the first is 1)
``complete=false``     in the header: the recording broke off
=====================  ====================================================================

A bare value is letters, digits and ``_.:/+@*#-``; others are JSON: ``"two words"``,
``["r1","r2"]``. A list of bare values may be written ``r1,r2``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from paraply.vocabulary.events import Event
from paraply.vocabulary.history import History
from paraply.vocabulary.records import encode_record
from paraply.vocabulary.transactions import Transaction

BARE = re.compile(r"[A-Za-z0-9_.:/+@*#-]+")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})")
WORKER = re.compile(r"w(0|[1-9][0-9]{0,18})")
ROW_SIGNS = {"insert": "+", "delete": "-", "update": "~"}


def format_history(history: History, *, lines: bool = False) -> str:
    """Return a history's notation on one line, or in lines.

    ``paraply.vocabulary.notation_parser.parse_history`` reads it back.
    """
    sections = []
    header = encode_record(history.header)
    if not history.is_complete:
        header["complete"] = False
    if header:
        sections.append(" ".join(_attributes(header)))
    sections += [format_transaction(transaction) for transaction in history.transactions]
    previous, events = 0, []
    for event in history.events:
        events.append(format_event(event, after=previous))
        previous = event.time
    if events:
        sections.append(("\n; " if lines else " ; ").join(events))
    return ("\n| " if lines else " | ").join(sections)


def format_transaction(transaction: Transaction) -> str:
    """Return a transaction's notation."""
    fields = encode_record(transaction)
    words = [f"T{fields.pop('id')}"]
    if "kind" in fields:
        words[0] += f":{fields.pop('kind')}"
    if "write_set" in fields:
        words[0] += _items(fields.pop("write_set"))
    if "timestamp" in fields:
        words.append(_timestamp(fields.pop("timestamp")))
    rows = [_row(row) for row in fields.get("rows", ())]
    if all(rows):
        fields.pop("rows", None)
    else:
        rows = []
    return " ".join([*words, *_attributes(fields), *rows])


def format_event(event: Event, *, after: int = 0) -> str:
    """Return an event's notation; ``after`` is the previous time."""
    fields = encode_record(event)
    words = [fields.pop("kind")]
    if fields["time"] == after + 1:
        del fields["time"]
    subject = f"T{fields.pop('transaction')}" if "transaction" in fields else ""
    if "attempt" in fields:
        subject += f"#{fields.pop('attempt')}"
    words.append(subject + _place(fields.pop("member", None), fields.pop("worker", None)))
    if "items" in fields:
        words.append(_items(fields.pop("items")))
    words.append(fields.pop("outcome", ""))
    if "timestamp" in fields:
        words.append(_timestamp(fields.pop("timestamp")))
    words += _attributes(fields)
    if "observed" in fields:
        seen = (f"{_item(each['item'])}=T{each['writer']}" for each in fields["observed"])
        words.append(f"[{' '.join(seen)}]")
    return " ".join(word for word in words if word)


def _place(member: str | None, worker: int | None) -> str:
    if member is None:
        return "" if worker is None else f"@{_worker(worker)}"
    # Quote members that read as a worker, or end where one would begin.
    plain = BARE.fullmatch(member) and not WORKER.fullmatch(member) and not set("/@#") & set(member)
    name = member if plain else json.dumps(member)
    return f"@{name}" if worker is None else f"@{name}/{_worker(worker)}"


def _worker(worker: int) -> str:
    return f"w{worker}"


def _timestamp(fields: Mapping[str, int]) -> str:
    return f"{fields['sequence_number']}<{fields['last_committed']}"


def _items(items: list[Any]) -> str:
    return "{" + " ".join(_item(item) for item in items) + "}"


def _item(item: str | int) -> str:
    if isinstance(item, int):
        return str(item)
    return item if BARE.fullmatch(item) and not NUMBER.fullmatch(item) else json.dumps(item)


def _row(row: dict[str, Any]) -> str:
    before, after = row.get("before"), row.get("after")
    operation = row["operation"]
    if (before is None) is not (operation == "insert"):
        return ""
    if (after is None) is not (operation == "delete"):
        return ""
    table = row["table"] if re.fullmatch(r"[A-Za-z0-9_.]+", row["table"]) else None
    images = "".join(_json(image) for image in (before, after) if image is not None)
    return f"{ROW_SIGNS[operation]}{table or json.dumps(row['table'])}{images}"


def _attributes(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if name != "observed":
            yield f"{name}={_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, str) and BARE.fullmatch(value):
        return value
    if isinstance(value, list) and value and all(_is_bare_element(each) for each in value):
        return ",".join(str(each) for each in value)
    return _json(value)


def _is_bare_element(element: Any) -> bool:
    if isinstance(element, str):
        return BARE.fullmatch(element) is not None and NUMBER.fullmatch(element) is None
    return type(element) is int


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
