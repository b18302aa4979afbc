"""Simulate a power loss: cut written but unsynced data off a file."""

from __future__ import annotations

import os
import random
from pathlib import Path

_LOST_MAX = 6_000
_KEPT_MIN = 1_024
"""The beginning describes the log and was written early."""


def cut_tail(file: Path, dice: random.Random, *, end: int | None = None) -> int:
    """Cut the end off a stopped server's file; return the number of bytes.

    The cut may split an event; it falls before ``end``.
    """
    size = file.stat().st_size
    end = size if end is None else end
    kept = max(min(end, _KEPT_MIN), end - dice.randint(_LOST_MAX // 4, _LOST_MAX))
    os.truncate(file, kept)
    return size - kept
