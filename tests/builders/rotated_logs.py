"""One log cut into numbered files, as if the server had rotated it."""

from __future__ import annotations

import random
import struct
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

from tests.builders.log_forger import ForgedLog, RawEvent

_ROTATE = 4


def rotated(
    log: ForgedLog, folder: Path, files: int, seed: int, name: str = "binlog"
) -> list[Path]:
    """Write ``files`` files, cut before drawn transactions; each ends with a ROTATE event."""
    starts = log.starts()
    cuts = sorted(random.Random(seed).sample(starts[1:], files - 1))
    head = log.events[: starts[0]]
    body = [event for event in log.events[starts[0] :] if event.code != _ROTATE]
    bounds = [0, *(cut - len(head) for cut in cuts), len(body)]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (begin, end) in enumerate(pairwise(bounds), 1):
        part = deepcopy(log)
        part.events = [*_head(head, number), *body[begin:end], _rotate(head[0], name, number + 1)]
        paths.append(part.save(folder / f"{name}.{number:06}"))
    return paths


def _head(head: list[RawEvent], number: int) -> list[RawEvent]:
    """Return the format description, and in the first file what else precedes transactions."""
    return head if number == 1 else head[:1]


def _rotate(like: RawEvent, name: str, number: int) -> RawEvent:
    body = struct.pack("<Q", 4) + f"{name}.{number:06}".encode()
    return RawEvent(like.time_s, _ROTATE, like.server_id, 0, bytearray(body))
