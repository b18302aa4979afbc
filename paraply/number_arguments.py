"""``argparse`` types of numbers."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def positive(text: str) -> int:
    """Parse a number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {text}")
    return int(text)


def within(
    read: type[int] | type[float], least: float, most: float
) -> Callable[[str], int | float]:
    """Return a parser of finite numbers in a range."""
    kind = "a whole number" if read is int else "a number"

    def number(text: str) -> int | float:
        try:
            value: int | float = read(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind} from {least} to {most:,}")
        return value

    return number


def positive_seconds(text: str) -> float:
    """Parse a finite time above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, not {text}")
    return number
