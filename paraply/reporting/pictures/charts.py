"""Text charts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_LEVELS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def resampled(values: Sequence[float], width: int) -> list[float]:
    """Return at most ``width`` means of equal slices."""
    if len(values) <= width:
        return list(values)
    edges = [round(slot * len(values) / width) for slot in range(width + 1)]
    return [sum(values[start:end]) / (end - start) for start, end in pairwise(edges)]


def curve(values: Sequence[float], width: int, top: float | None = None) -> str:
    """Return block characters from zero to ``top``."""
    shown = resampled(values, width)
    highest = top if top is not None else max(shown, default=0.0)
    if highest <= 0:
        return _LEVELS[0] * len(shown)
    return "".join(
        _LEVELS[min(len(_LEVELS) - 1, max(0, int(value / highest * len(_LEVELS))))]
        for value in shown
    )


def bar(value: float, top: float, width: int) -> str:
    """Return a bar; any positive value shows."""
    if value <= 0 or top <= 0:
        return ""
    eighths = max(1, round(value / top * width * 8))
    full, rest = divmod(eighths, 8)
    return (_EIGHTHS[8] * full + (_EIGHTHS[rest] if rest else "")).strip()
