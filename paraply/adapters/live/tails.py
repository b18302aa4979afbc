"""Loss of power, as far as files show it: what was written and not synced is not there any more."""

from __future__ import annotations

import os
import random
from pathlib import Path

_LOST_MAX = 6_000
_KEPT_MIN = 1_024
"""The beginning of a log, which describes it, was written long ago."""


def cut_tail(file: Path, dice: random.Random, *, end: int | None = None) -> int:
    """Cut the end off a file of a server that is not running; return how many bytes it was.

    The cut may fall on the end of an event or into the middle of one; it falls before ``end``.
    """
    size = file.stat().st_size
    end = size if end is None else end
    kept = max(min(end, _KEPT_MIN), end - dice.randint(_LOST_MAX // 4, _LOST_MAX))
    os.truncate(file, kept)
    return size - kept
