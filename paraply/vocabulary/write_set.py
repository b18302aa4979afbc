"""Write sets: the items that a transaction wrote, and their conflicts."""

from __future__ import annotations

Item = str | int
"""A written item: a name in small models, else a hash or a composed key.

``1`` and ``"1"`` differ. Numbers have at most 64 bits. Booleans are not items.
"""

WriteSet = frozenset[Item]
"""The items of a transaction; equal items conflict."""

EMPTY_WRITE_SET: WriteSet = frozenset()
"""No known items: the transaction (e.g. DDL) may have touched anything."""


def write_set(*items: Item) -> WriteSet:
    """Return the write set of the given items.

    >>> sorted(write_set("a", "b", "a"))
    ['a', 'b']
    """
    return frozenset(items)


def share_items(a: WriteSet, b: WriteSet) -> bool:
    """Return whether both wrote an item, as certification asks; empty write sets share nothing."""
    return not a.isdisjoint(b)


def conflict(a: WriteSet, b: WriteSet) -> bool:
    """Return whether the order of the two matters for parallel apply.

    An empty write set is a barrier and conflicts with everything, including another empty one
    (WL#8440).
    """
    return not a or not b or not a.isdisjoint(b)


def sorted_items(items: WriteSet) -> list[Item]:
    """Return the items in one fixed order: numbers first, then text."""
    return sorted(items, key=lambda item: (isinstance(item, str), item))


def format_item(item: Item) -> str:
    """Return an item as text from which :func:`parse_item` gets it back.

    Numbers are decimal; text stands as it is unless it would read as a number or begins with a
    double quote, and is then put between double quotes.

    >>> format_item(7), format_item("7"), format_item("t.PRIMARY")
    ('7', '"7"', 't.PRIMARY')
    """
    if isinstance(item, int):
        return str(item)
    if item.startswith('"') or _reads_as_number(item):
        return f'"{item}"'
    return item


def parse_item(text: str) -> Item:
    """Return the item that :func:`format_item` wrote as ``text``."""
    if _reads_as_number(text):
        return int(text)
    if len(text) >= 2 and text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    return text


def table_of(item: Item) -> str:
    """Return the table that an item names before its row; empty where it names none.

    >>> table_of("d.t.a"), table_of("a")
    ('d.t', '')
    """
    return item.rpartition(".")[0] if isinstance(item, str) else ""


def _reads_as_number(text: str) -> bool:
    digits = text[1:] if text.startswith("-") else text
    if len(digits) > 20 or not (digits.isascii() and digits.isdigit()):
        return False
    return digits == "0" or digits[0] != "0"
