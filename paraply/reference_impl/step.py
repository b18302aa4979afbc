"""A possible next step of a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Step(NamedTuple):
    """A step that the schedule, or the clock, may take next."""

    label: str
    act: Callable[[], None]
