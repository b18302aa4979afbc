"""Statements as they read without ANSI_QUOTES and NO_BACKSLASH_ESCAPES.

Both modes change what quotes mean, so nothing behind this module needs to know them.
"""

from __future__ import annotations

import re

from paraply.vocabulary.sql_text import quoted

ANSI_QUOTES = 1 << 2
NO_BACKSLASH_ESCAPES = 1 << 20
_SKIPPED = r"/\*(?!M?!).*?(?:\*/|\Z)|\#[^\n]*|--(?=\s|\Z)[^\n]*|`(?:[^`]++|``)*+(?:`|\Z)"


def _quoted_text(*marks: str, escapes: bool) -> str:
    escape, plain = (r"\\.|", r"\\") if escapes else ("", "")
    return "|".join(f"{m}(?:[^{m}{plain}]++|{escape}{m}{m})*+{m}" for m in marks)


def _pattern(mode: int) -> re.Pattern[str]:
    escapes = not mode & NO_BACKSLASH_ESCAPES
    marks = "'" if mode & ANSI_QUOTES else "'\""
    name = '"(?:[^"]++|"")*+"' if mode & ANSI_QUOTES else r"(?!)"
    text = _quoted_text(*marks, escapes=escapes)
    return re.compile(f"{_SKIPPED}|(?P<name>{name})|(?P<text>{text})", re.DOTALL)


_MODES = ANSI_QUOTES | NO_BACKSLASH_ESCAPES
_PATTERNS = {mode: _pattern(mode) for mode in (ANSI_QUOTES, NO_BACKSLASH_ESCAPES, _MODES)}


def in_usual_mode(sql: str, sql_mode: int | None) -> str:
    r"""Return a statement of some ``sql_mode`` in the default one.

    >>> in_usual_mode('ALTER TABLE "a""b" COMMENT \'\\\'', ANSI_QUOTES | NO_BACKSLASH_ESCAPES)
    "ALTER TABLE `a\"b` COMMENT '\\\\'"
    """
    mode = (sql_mode or 0) & _MODES

    def usual(match: re.Match[str]) -> str:
        if match["name"]:
            return quoted(match["name"][1:-1].replace('""', '"'))
        if match["text"] and mode & NO_BACKSLASH_ESCAPES:
            return match["text"].replace("\\", "\\\\")
        return match[0]

    return _PATTERNS[mode].sub(usual, sql) if mode else sql
