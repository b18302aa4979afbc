"""Write sets and their conflicts."""

from __future__ import annotations

Item = str | int
"""A name in small models, else a hash or composed key.

``1`` and ``"1"`` differ. Numbers have at most 64 bits. Booleans are not items.
"""

WriteSet = frozenset[Item]

EMPTY_WRITE_SET: WriteSet = frozenset()
"""Unknown items, e.g. of DDL."""


def write_set(*items: Item) -> WriteSet:
    """Return a write set.

    >>> sorted(write_set("a", "b", "a"))
    ['a', 'b']
    """
    return frozenset(items)


def share_items(a: WriteSet, b: WriteSet) -> bool:
    """Return whether both wrote an item, as in certification."""
    return not a.isdisjoint(b)


def conflict(a: WriteSet, b: WriteSet) -> bool:
    """Return whether order matters for parallel apply.

    An empty write set conflicts with everything (WL#8440).
    """
    return not a or not b or not a.isdisjoint(b)


def sorted_items(items: WriteSet) -> list[Item]:
    """Sort numbers, then text."""
    return sorted(items, key=lambda item: (isinstance(item, str), item))


def format_item(item: Item) -> str:
    """Return an item as text for :func:`parse_item`.

    Text is quoted if it reads as a number or begins with a double quote.

    >>> format_item(7), format_item("7"), format_item("t.PRIMARY")
    ('7', '"7"', 't.PRIMARY')
    """
    if isinstance(item, int):
        return str(item)
    if item.startswith('"') or _reads_as_number(item):
        return f'"{item}"'
    return item


def parse_item(text: str) -> Item:
    """Parse :func:`format_item` text."""
    if _reads_as_number(text):
        return int(text)
    if len(text) >= 2 and text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    return text


def table_of(item: Item) -> str:
    """Return an item's table, or empty.

    >>> table_of("d.t.a"), table_of("a")
    ('d.t', '')
    """
    return item.rpartition(".")[0] if isinstance(item, str) else ""


def _reads_as_number(text: str) -> bool:
    digits = text[1:] if text.startswith("-") else text
    if len(digits) > 20 or not (digits.isascii() and digits.isdigit()):
        return False
    return digits == "0" or digits[0] != "0"
