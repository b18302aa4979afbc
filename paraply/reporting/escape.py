"""Escape text from a log for display.

A log is untrusted. Values may contain terminal escape sequences, bidirectional overrides, or
characters that XML forbids. All are shown as ``\\x1b`` or ``\\u202e``.
"""

from __future__ import annotations

import unicodedata

# Cc: C0 and C1 controls; Cf: bidirectional marks, zero-width joiners; Cs: lone surrogates;
# Co and Cn: private use and noncharacters (XML forbids two of them); Zl and Zp: line separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

SHOWN_LENGTH_MAX = 200
"""A key may be a 16 kB blob."""


def visible(text: str) -> str:
    """Escape all but plainly visible characters."""
    # isprintable() is False for exactly these categories and odd spaces (Zs but U+0020).
    if text.isprintable():
        return text
    return "".join(map(_visible_character, text))


def shortened(text: str, length: int = SHOWN_LENGTH_MAX) -> str:
    """Return :func:`visible` text, cut to ``length``."""
    if len(text) <= length:
        return visible(text)
    return f"{visible(text[:length])}… ({len(text) - length:,} more characters)"


def ascii_escaped(text: str) -> str:
    """Return JSON text with hidden characters as ``\\uXXXX``."""
    # JSON escapes every ASCII control but the last.
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(
        character if not _is_hidden(character) or character == "\n" else _json_escape(character)
        for character in text
    )


def _is_hidden(character: str) -> bool:
    return not character.isprintable() and unicodedata.category(character) in _HIDDEN


def _visible_character(character: str) -> str:
    if not _is_hidden(character):
        return character
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
