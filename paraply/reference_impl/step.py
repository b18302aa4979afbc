"""A possible next step of a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Step(NamedTuple):
    """A step that the schedule, or the clock, may take next.

    Attributes:
        fault_at: the member that a fault hits, or whose position is saved; empty for other steps.
    """

    label: str
    act: Callable[[], None]
    fault_at: str = ""
