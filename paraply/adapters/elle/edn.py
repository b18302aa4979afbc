"""A small reader of EDN, Clojure's data notation, for histories.

Vectors and lists become tuples, maps dictionaries, sets frozensets, nil ``None``; keywords
(``":ok"``) and symbols become text. Tags (``#inst``, record names) are skipped. Ratios and symbolic
non-numbers are rejected. Source: github.com/edn-format/edn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from paraply.vocabulary.errors import ParaplyError, register

MALFORMED_EDN = register(
    "P511",
    "this is not EDN: {reason}",
    "give a history as Jepsen's history.edn has it: one operation a line, or one vector of them",
)

DEPTH_MAX = 64
NUMBER_LENGTH_MAX = 40

_TOKEN = re.compile(
    r"""\n|"(?:[^"\\]|\\.)*"|;[^\n]*|\#_|\#\{|\#[A-Za-z:][^\s,;"\[\](){}]*"""
    r"""|[\[\](){}]|\\(?:newline|space|tab|return|u[0-9a-fA-F]{4}|.)|[^\s,;"\[\](){}]+|[^\s,]""",
    re.DOTALL | re.VERBOSE,
)
_INTEGER = re.compile(r"[+-]?\d+N?")
_DECIMAL = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?M?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\"}
_CHARACTERS = {"newline": "\n", "space": " ", "tab": "\t", "return": "\r"}
_WORDS = {"nil": None, "true": True, "false": False}
_CLOSES = {"[": "]", "(": ")", "{": "}", "#{": "}"}

_DISCARD, _TAG = object(), object()


def read_edn(text: str, *, name: str = "") -> Iterator[tuple[int, Any]]:
    """Yield (line, value) at the top level or in its vector.

    Raises:
        ParaplyError: P511 with file and line.
    """
    reader = _Reader(name)
    atoms = reader.atoms
    for match in _TOKEN.finditer(text):
        token = match[0]
        # The common case first: a cached word inside an open bracket.
        if reader.inner is not None and token in atoms:
            reader.inner.append(atoms[token])
            continue
        done = reader.take(token)
        if done is not None:
            yield done
    reader.finish()


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 1
        self._open: list[tuple[str, int, list[Any]]] = []
        self._top: list[Any] = []
        self.atoms: dict[str, Any] = dict(_WORDS)
        self.inner: list[Any] | None = None

    def take(self, token: str) -> tuple[int, Any] | None:
        if token == "\n":
            self._line += 1
            return None
        first = token[0]
        if first == ";":
            return None
        if token in _CLOSES:
            if len(self._open) >= DEPTH_MAX:
                self._refuse(f"it is nested deeper than {DEPTH_MAX}")
            self._open.append((token, self._line, []))
            self._look_inside()
            return None
        if first in "])}":
            return self._close(token)
        if first == "#" and token != "#_" and not token[1:2].isalpha() and token[1:2] != ":":
            self._refuse(f"{token} is no tag")
        if first == "#":
            self._parts.append(_DISCARD if token == "#_" else _TAG)
            self.inner = None
            return None
        begun = self._line
        value = self.atoms[token] if token in self.atoms else self._atom(token)
        return self._add(value, begun)

    def finish(self) -> None:
        if self._open:
            bracket, line, _ = self._open[-1]
            self._refuse(f"the {bracket} of line {line} is never closed")
        if self._top:
            self._refuse("it ends after a tag")

    @property
    def _parts(self) -> list[Any]:
        return self._open[-1][2] if self._open else self._top

    def _add(self, value: Any, line: int) -> tuple[int, Any] | None:
        parts = self._parts
        is_discarded = False
        while parts and (parts[-1] is _TAG or parts[-1] is _DISCARD):
            is_discarded = parts.pop() is _DISCARD
            if is_discarded:
                break
        self._look_inside()
        if is_discarded:
            return None
        if self._is_top:
            return line, value
        parts.append(value)
        return None

    def _look_inside(self) -> None:
        self.inner = None
        # Yield the elements of a top-level vector one by one.
        if not self._is_top:
            parts = self._open[-1][2]
            if not parts or (parts[-1] is not _TAG and parts[-1] is not _DISCARD):
                self.inner = parts

    @property
    def _is_top(self) -> bool:
        return not self._open or (len(self._open) == 1 and self._open[0][0] in "[(")

    def _close(self, token: str) -> tuple[int, Any] | None:
        if not self._open:
            self._refuse(f"a {token} closes nothing")
        bracket, line, parts = self._open.pop()
        if _CLOSES[bracket] != token:
            self._refuse(f"a {token} closes the {bracket} of line {line}")
        if parts and (parts[-1] is _TAG or parts[-1] is _DISCARD):
            self._refuse("a tag stands before nothing")
        if not self._open and bracket in "[(":
            self.inner = None
            return None
        return self._add(self._value(bracket, parts), line)

    def _value(self, bracket: str, parts: list[Any]) -> Any:
        if bracket in "[(":
            return tuple(parts)
        try:
            if bracket == "#{":
                return frozenset(parts)
            if len(parts) % 2:
                self._refuse("a map has a key without a value")
            return dict(zip(parts[::2], parts[1::2], strict=True))
        except TypeError:
            self._refuse("a map or set is used as a key")

    def _atom(self, token: str) -> Any:
        if token[0] == '"':
            if len(token) < 2:
                self._refuse("a text is never closed")
            self._line += token.count("\n")
            return _ESCAPE.sub(self._unescape, token[1:-1])
        if token[0] == "\\":
            return self._character(token[1:])
        if len(token) > NUMBER_LENGTH_MAX and token.lstrip("+-")[:1].isdigit():
            self._refuse(f"a number of {len(token)} characters")
        if _INTEGER.fullmatch(token):
            value: Any = int(token.rstrip("N"))
        elif _DECIMAL.fullmatch(token):
            value = float(token.rstrip("M"))
        elif token.lstrip("+-")[:1].isdigit():
            self._refuse(f"'{token}' is no number")
        else:
            value = token
        self.atoms[token] = value
        return value

    def _unescape(self, match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "u" and len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _ESCAPED:
            self._refuse(f"\\{code} in a text means nothing")
        return _ESCAPED[code]

    def _character(self, code: str) -> str:
        if code in _CHARACTERS:
            return _CHARACTERS[code]
        return chr(int(code[1:], 16)) if len(code) == 5 else code

    def _refuse(self, reason: str) -> NoReturn:
        raise ParaplyError(MALFORMED_EDN, where=f"{self._name}:{self._line}", reason=reason)
