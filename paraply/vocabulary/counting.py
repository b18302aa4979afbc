"""Numbers with singular or plural nouns."""

from __future__ import annotations


def counted(number: int, one: str, more: str = "") -> str:
    """Return ``number`` with its noun; ``more`` is an irregular plural.

    >>> counted(1, "pair"), counted(1200, "pair"), counted(0, "key rests", "keys rest")
    ('1 pair', '1,200 pairs', '0 keys rest')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


class Counted(int):
    """A number that a template formats with its noun: ``{gaps:gap|gaps}``.

    >>> "{n:gap|gaps} found".format(n=Counted(1)), f"{Counted(2):gap|gaps}", f"{Counted(3)}"
    ('1 gap found', '2 gaps', '3')
    """

    def __format__(self, format_spec: str) -> str:
        one, bar, more = format_spec.partition("|")
        return counted(int(self), one, more) if bar else format(int(self), format_spec)
