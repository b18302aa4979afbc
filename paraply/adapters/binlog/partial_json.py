"""Partial JSON updates (MySQL 8.0, binlog_row_value_options=PARTIAL_JSON).

Format: MySQL sql/json_diff.h and Json_diff_vector::read_binary.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from enum import IntEnum

from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.json_binary import DEPTH_MAX, decode_json, json_text


class DiffOperation(IntEnum):
    """The operation of a diff."""

    REPLACE = 0
    INSERT = 1
    REMOVE = 2


@dataclass(frozen=True, slots=True)
class JsonDiff:
    """Operation, path (``$.a[1]``) and new JSON text."""

    operation: DiffOperation
    path: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class PartialJson:
    """A JSON value known only by diffs."""

    diffs: tuple[JsonDiff, ...]


ParsedDiff = tuple[DiffOperation, str, object]


def parse_diffs(data: bytes) -> list[ParsedDiff]:
    """Decode diffs into (operation, path, value or None)."""
    cursor = Cursor(data)
    diffs: list[ParsedDiff] = []
    while cursor.remaining:
        code = cursor.unsigned(1)
        if code > DiffOperation.REMOVE:
            raise MalformedError(f"JSON diff operation {code} is unknown")
        operation = DiffOperation(code)
        path = cursor.packed_bytes().decode("utf-8", "replace")
        value = None if operation is DiffOperation.REMOVE else decode_json(cursor.packed_bytes())
        diffs.append((operation, path, value))
    return diffs


def as_partial(diffs: list[ParsedDiff]) -> PartialJson:
    """Return diffs without their document."""
    return PartialJson(
        tuple(
            JsonDiff(operation, path, "" if operation is DiffOperation.REMOVE else json_text(value))
            for operation, path, value in diffs
        )
    )


def apply_diffs(document: object, diffs: list[ParsedDiff]) -> object:
    """Return the document after the diffs.

    Raises ``MalformedError`` for unfit paths, which the server excludes.
    """
    result = deepcopy(document)
    for operation, path, value in diffs:
        legs = parse_path(path)
        if not legs:
            if operation is not DiffOperation.REPLACE:
                raise MalformedError(f"JSON diff {operation.name} at the root")
            result = value
            continue
        parent = result
        for leg in legs[:-1]:
            parent = _child(parent, leg, path)
        _change(parent, legs[-1], operation, value, path)
    return result


def _child(parent: object, leg: str | int, path: str) -> object:
    if isinstance(parent, dict) and isinstance(leg, str) and leg in parent:
        child: object = parent[leg]
        return child
    if isinstance(parent, list) and isinstance(leg, int) and leg < len(parent):
        return parent[leg]
    raise MalformedError(f"JSON path {path} leads nowhere")


def _change(
    parent: object, leg: str | int, operation: DiffOperation, value: object, path: str
) -> None:
    if operation is DiffOperation.INSERT and isinstance(parent, list) and isinstance(leg, int):
        parent.insert(leg, value)
        return
    if isinstance(parent, dict) and isinstance(leg, str):
        if (operation is DiffOperation.INSERT) != (leg in parent):
            if operation is DiffOperation.REMOVE:
                del parent[leg]
            else:
                parent[leg] = value
                _restore_order(parent)
            return
    elif isinstance(parent, list) and isinstance(leg, int) and leg < len(parent):
        if operation is DiffOperation.REMOVE:
            del parent[leg]
        else:
            parent[leg] = value
        return
    raise MalformedError(f"JSON diff {operation.name} does not fit at {path}")


def _restore_order(members: dict[str, object]) -> None:
    """The server stores shorter names first, then by bytes."""
    ordered = sorted(members.items(), key=lambda item: (len(item[0].encode()), item[0].encode()))
    members.clear()
    members.update(ordered)


def parse_path(path: str) -> list[str | int]:
    """Return a JSON path's member names and positions.

    >>> parse_path('$.a[2]."b c"')
    ['a', 2, 'b c']
    """
    if not path.startswith("$"):
        raise MalformedError(f"JSON path {path!r} does not start with $")
    legs: list[str | int] = []
    position = 1
    while position < len(path):
        if path[position] == "[":
            end = path.find("]", position)
            digits = path[position + 1 : end]
            if end < 0 or not (digits.isascii() and digits.isdigit()) or len(digits) > 10:
                raise MalformedError(f"JSON path {path!r} has no array position at {position}")
            legs.append(int(digits))
            position = end + 1
        elif path.startswith('."', position):
            try:
                name, length = json.JSONDecoder().raw_decode(path[position + 1 :])
            except json.JSONDecodeError:
                raise MalformedError(f"JSON path {path!r} has an open quote") from None
            legs.append(str(name))
            position += 1 + length
        elif path[position] == ".":
            end = position + 1
            while end < len(path) and path[end] not in ".[":
                end += 1
            if end == position + 1:
                raise MalformedError(f"JSON path {path!r} has an empty member name")
            legs.append(path[position + 1 : end])
            position = end
        else:
            raise MalformedError(f"JSON path {path!r} cannot be read at {position}")
        if len(legs) > DEPTH_MAX:
            raise MalformedError(f"a JSON path of more than {DEPTH_MAX} legs")
    return legs
