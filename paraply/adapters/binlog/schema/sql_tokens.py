"""SQL tokens for schema statements.

Executable comments count, except version 99xxxx, which no server runs. Cut strings and comments
become BROKEN.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class TokenKind(Enum):
    """Token kinds; SYMBOL is any single other character."""

    WORD = "word"
    NAME = "quoted name"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"
    BROKEN = "broken text"
    END = "end of statement"


@dataclass(frozen=True, slots=True)
class Token:
    """One token; ``text`` is unquoted, ``offset`` in characters."""

    kind: TokenKind
    text: str
    offset: int
    ansi_quoted: bool = False
    """Double-quoted: a name under ANSI_QUOTES."""


class NotUnderstood(Exception):  # noqa: N818 - it is an answer, not a fault
    """An unsupported statement, with reason and offset."""

    def __init__(self, reason: str, offset: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


_PATTERN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<never>/\*M?!99\d{4}.*?\*/)
  | (?P<open>/\*M?!\d*)
  | (?P<close>\*/)
  | (?P<comment>/\*.*?\*/ | \#[^\n]* | --(?=[\s\x00]|$)[^\n]*)
  | (?P<name>`(?:[^`]++|``)*+`)
  | (?P<string>'(?:[^'\\]++|\\.|'')*+' | "(?:[^"\\]++|\\.|"")*+")
  | (?P<word>[\w$\u0080-\U0010ffff]+)
  | (?P<broken>/\*.* | [`'"].*)
  | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def unescape(text: str, quote: str = "'") -> str:
    r"""Return a string literal's value.

    ``\%`` and ``\_`` stay, as in the server.
    """
    text = text.replace(quote * 2, quote)
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda m: _ESCAPES.get(m[1], m[0] if m[1] in "%_" else m[1]), text)


def tokenize(sql: str) -> list[Token]:
    """Return tokens, ending with END or BROKEN."""
    tokens: list[Token] = []
    executable_comments = 0
    for match in _PATTERN.finditer(sql):
        group, text, offset = match.lastgroup, match[0], match.start()
        if group in ("space", "comment", "never"):
            continue
        if group == "open":
            executable_comments += 1
        elif group == "close" and executable_comments:
            executable_comments -= 1
        elif group == "name":
            tokens.append(Token(TokenKind.NAME, text[1:-1].replace("``", "`"), offset))
        elif group == "string":
            value = unescape(text[1:-1], text[0])
            tokens.append(Token(TokenKind.STRING, value, offset, ansi_quoted=text[0] == '"'))
        elif group == "word":
            kind = TokenKind.NUMBER if text.isdecimal() else TokenKind.WORD
            tokens.append(Token(kind, text, offset))
        elif group == "broken":
            tokens.append(Token(TokenKind.BROKEN, text[:20], offset))
            return tokens
        else:
            tokens += (Token(TokenKind.SYMBOL, symbol, offset) for symbol in text)
    tokens.append(Token(TokenKind.END, "", len(sql)))
    return tokens


class TokenCursor:
    """Token cursor: ``accept`` may match, ``expect`` must."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def token(self) -> Token:
        """The current token."""
        return self._tokens[self._at]

    def ahead(self, count: int = 1) -> Token:
        """Return a later or the last token."""
        return self._tokens[min(self._at + count, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Return the current token and advance."""
        token = self.token
        if token.kind is TokenKind.BROKEN:
            raise self.not_understood("the statement breaks off")
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def at_end(self) -> bool:
        """Return whether nothing but a semicolon remains."""
        token = self.token
        return token.kind is TokenKind.END or (
            token.kind is TokenKind.SYMBOL
            and token.text == ";"
            and self.ahead().kind is TokenKind.END
        )

    def not_understood(self, what: str) -> NotUnderstood:
        """Return the error for the current token."""
        shown = self.token.text[:40] or self.token.kind.value
        return NotUnderstood(f"{what} at '{shown}'", self.token.offset)

    def is_word(self, *words: str, ahead: int = 0) -> bool:
        """Return whether one of upper-case ``words`` is current."""
        token = self.ahead(ahead) if ahead else self.token
        return token.kind is TokenKind.WORD and token.text.upper() in words

    def is_symbol(self, symbols: str, ahead: int = 0) -> bool:
        """Return whether one of ``symbols`` is current."""
        token = self.ahead(ahead) if ahead else self.token
        return token.kind is TokenKind.SYMBOL and token.text in symbols

    def accept(self, *phrase: str) -> bool:
        """Consume the whole ``phrase`` or nothing."""
        for count, word in enumerate(phrase):
            if not self.is_word(word, ahead=count):
                return False
        for _ in phrase:
            self.take()
        return True

    def accept_any(self, *words: str) -> str:
        """Consume one of ``words``; return it or empty."""
        return self.take().text.upper() if self.is_word(*words) else ""

    def accept_symbol(self, symbol: str) -> bool:
        """Consume one character if current."""
        if self.is_symbol(symbol):
            self.take()
            return True
        return False

    def expect(self, *phrase: str) -> None:
        """Consume ``phrase`` or raise ``NotUnderstood``."""
        if not self.accept(*phrase):
            raise self.not_understood(f"expected {' '.join(phrase)}")

    def expect_symbol(self, symbol: str) -> None:
        """Consume one character or raise ``NotUnderstood``."""
        if not self.accept_symbol(symbol):
            raise self.not_understood(f"expected {symbol}")

    def is_name(self) -> bool:
        """Return whether a name is current."""
        token = self.token
        return token.kind in (TokenKind.WORD, TokenKind.NAME) or token.ansi_quoted

    def name(self) -> str:
        """Consume a name or raise ``NotUnderstood``."""
        if not self.is_name() and self.token.kind is not TokenKind.NUMBER:
            raise self.not_understood("expected a name")
        return self.take().text

    def number(self) -> int:
        """Consume a whole number or raise ``NotUnderstood``."""
        if self.token.kind is not TokenKind.NUMBER or len(self.token.text) > 20:
            raise self.not_understood("expected a number")
        return int(self.take().text)

    def skip_parenthesised(self) -> None:
        """Consume a balanced pair of parentheses."""
        self.expect_symbol("(")
        depth = 1
        while depth:
            if self.token.kind is TokenKind.END:
                raise self.not_understood("unbalanced parentheses")
            token = self.take()
            if token.kind is TokenKind.SYMBOL:
                depth += (token.text == "(") - (token.text == ")")

    def skip_item(self) -> None:
        """Consume up to a comma or parenthesis at this depth."""
        while not self.at_end() and not self.is_symbol(",)"):
            if self.is_symbol("("):
                self.skip_parenthesised()
            else:
                self.take()
