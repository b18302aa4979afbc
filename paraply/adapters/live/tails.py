"""Simulate a power loss: cut unsynced data off a file."""

from __future__ import annotations

import os
import random
from pathlib import Path

_LOST_MAX = 6_000
_KEPT_MIN = 1_024
"""The log's early description."""


def cut_tail(file: Path, dice: random.Random, *, end: int | None = None) -> int:
    """Cut a stopped server's file before ``end``; return the bytes.

    It may split an event.
    """
    size = file.stat().st_size
    end = size if end is None else end
    kept = max(min(end, _KEPT_MIN), end - dice.randint(_LOST_MAX // 4, _LOST_MAX))
    os.truncate(file, kept)
    return size - kept
