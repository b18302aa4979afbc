"""Damage that keeps the structure of a format, so that inputs get past its first check.

Each function takes a seed and a random source, and returns a damaged copy.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

Mutate = Callable[[bytes, Random], bytes]

DEEP, LONG = "@@deep@@", "@@long@@"
_RAW = {DEEP: "[" * 50_000, LONG: "9" * 5_000}
"""Markers, and what replaces them in the text: Python cannot print values like these."""
ALIENS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 2**64, 10**40, 0.5, float("nan"), 1e308,
    "", "0", "a", "\ud800", "\u202e", "\0", "x" * 3_000, "../../x", [], {}, [[]], [None], {"a": 1},
    DEEP, LONG,
)  # fmt: skip
_DEPTH_MAX = 40
_WHOLE_ONE_IN = 12
_LINES_MAX, _EVENTS_MAX = 12, 8
"""What is damaged is mostly a piece: of a short input each byte is read, and more are tried."""
_BEGINNINGS = (33, 34, 42, 162)
"""Types of the events that begin a transaction."""
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]", re.DOTALL)
_WORDS: tuple[bytes, ...] = (
    b"", b"(", b")", b"[", b"]", b"{", b"}", b"'", b'"', b"`", b"\\", b",", b";", b"--", b"/*",
    b"*/", b"#", b"\n", b"\0", b"\xff", b"\xc3\xa9", b"\xe2\x80\xae", b"0", b"-1", b"NaN", b"NULL",
    b"18446744073709551616",
)  # fmt: skip
_LONG_WORDS = (b"9" * 5_000, b"(" * 20_000, b"[" * 20_000, b"{" * 20_000, b"x" * 70_000)
_LONG_ONE_IN = 100


def bytes_damaged(data: bytes, choice: Random) -> bytes:
    """Set, remove, repeat or cut bytes."""
    result = bytearray(data)
    for _ in range(1 << choice.randrange(4)):
        if len(result) < 2:
            break
        at = choice.randrange(len(result))
        match choice.randrange(6):
            case 0:
                result[at] = choice.randrange(256)
            case 1:
                size = choice.choice((1, 2, 4, 8))
                result[at : at + size] = choice.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * size
            case 2:
                del result[at : at + choice.randrange(1, 16)]
            case 3:
                run = result[at : at + choice.randrange(1, 64)]
                to = choice.randrange(len(result))
                result[to:to] = run
            case 4:
                result[at] ^= 1 << choice.randrange(8)
            case _:
                if not choice.randrange(4):
                    del result[at:]
    return bytes(result)


def text_damaged(data: bytes, choice: Random) -> bytes:
    """Remove, repeat, move and replace words."""
    data = _piece_of_lines(data, choice)
    tokens = _TOKEN.findall(data)
    for _ in range(1 << choice.randrange(4)):
        if not tokens:
            break
        at = choice.randrange(len(tokens))
        end = at + choice.randrange(1, 8)
        match choice.randrange(6):
            case 0:
                del tokens[at:end]
            case 1:
                tokens[at:at] = tokens[at:end]
            case 2:
                other = choice.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = choice.choice(tokens)
            case 4:
                tokens[at] = _word(choice)
            case _:
                tokens.insert(at, _word(choice))
    return b"".join(tokens)


def _word(choice: Random) -> bytes:
    return choice.choice(_WORDS if choice.randrange(_LONG_ONE_IN) else _LONG_WORDS)


def _piece_of_lines(data: bytes, choice: Random) -> bytes:
    if not choice.randrange(_WHOLE_ONE_IN):
        return data
    lines = data.splitlines(keepends=True)
    first = choice.randrange(len(lines)) if choice.randrange(2) and lines else 0
    return b"".join(lines[first : first + choice.randrange(1, _LINES_MAX)])


def json_damaged(data: bytes, choice: Random) -> bytes:
    """Replace, remove, repeat and rename values of a JSON document."""
    if not choice.randrange(10):
        return text_damaged(data, choice)
    root = [json.loads(data)]
    for _ in range(1 << choice.randrange(3)):
        places = list(_places(root))
        holder, key = choice.choice(places)
        match choice.randrange(5):
            case 0 | 1:
                holder[key] = deepcopy(choice.choice(ALIENS))  # Later damage may change it.
            case 2:
                other, at = choice.choice(places)
                holder[key] = deepcopy(other[at])  # Shared, it could hold itself later.
            case 3 if holder is not root:
                del holder[key]
            case _ if isinstance(holder, dict):
                holder[str(choice.choice(ALIENS))[:40]] = holder.pop(key)
            case _ if holder is not root:
                holder.insert(key, deepcopy(holder[key]))
    return _json_text(root[0])


def _json_text(value: Any) -> bytes:
    text = json.dumps(value)
    for marker, raw in _RAW.items():
        text = text.replace(f'"{marker}"', raw)
    return text.encode()


def _places(value: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    if depth < _DEPTH_MAX:
        for key in value if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            if isinstance(value[key], (dict, list)):
                found += _places(value[key], depth + 1)
    return found


def json_lines_damaged(data: bytes, choice: Random) -> bytes:
    """Damage, remove, repeat and move lines of JSON."""
    lines = data.split(b"\n")[:-1] if data.endswith(b"\n") else data.split(b"\n")
    if choice.randrange(_WHOLE_ONE_IN):
        del lines[choice.randrange(1, _LINES_MAX) :]
    for _ in range(1 << choice.randrange(3)):
        if not lines:
            break
        at = choice.randrange(len(lines))
        match choice.randrange(8):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, choice.choice(lines))
            case 2:
                lines.insert(choice.randrange(len(lines)), lines.pop(at))
            case _:
                lines[at] = _line_damaged(lines[at], choice)
    return b"\n".join(lines) + b"\n"


def _line_damaged(line: bytes, choice: Random) -> bytes:
    try:
        return json_damaged(line, choice)
    except (ValueError, RecursionError):  # An earlier round damaged it.
        return text_damaged(line, choice)


def packed(mutate: Mutate) -> Mutate:
    """Return a function that damages what a gzip file holds, rarely the file."""

    def damaged(data: bytes, choice: Random) -> bytes:
        if not choice.randrange(6):
            return bytes_damaged(data, choice)
        return gzip.compress(mutate(gzip.decompress(data), choice), 1, mtime=0)

    return damaged


def script_damaged(data: bytes, choice: Random) -> bytes:
    """Damage a script of :func:`tests.fuzz.binlog_target.file_of`: events and their bodies."""
    head, events = data[:1], _events(data[1:])
    if choice.randrange(_WHOLE_ONE_IN):
        first = choice.choice(
            [0, *(at for at, (code, _) in enumerate(events) if code in _BEGINNINGS)]
        )
        events = events[first : first + choice.randrange(1, _EVENTS_MAX)]
    for _ in range(1 << choice.randrange(4)):
        if not events:
            break
        at = choice.randrange(len(events))
        code, body = events[at]
        match choice.randrange(7):
            case 0:
                del events[at]
            case 1:
                events.insert(choice.randrange(len(events)), events[at])
            case 2:
                events.insert(choice.randrange(len(events)), events.pop(at))
            case 3:
                events[at] = (choice.randrange(256) if choice.randrange(2) else 16, body)
            case _:
                events[at] = (code, bytes_damaged(body, choice)[:65_535])
    return head + b"".join(struct.pack("<BH", code, len(body)) + body for code, body in events)


def _events(script: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at + 3 <= len(script):
        code, length = struct.unpack_from("<BH", script, at)
        found.append((code, script[at + 3 : at + 3 + length]))
        at += 3 + length
    return found
