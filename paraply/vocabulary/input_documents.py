"""Outside documents, limited in size and nesting."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, AnyStr, Protocol, TypeVar

TOO_DEEP = "it is nested too deeply"
PIECE = 1 << 20

Content = TypeVar("Content", str, bytes, covariant=True)


class Readable(Protocol[Content]):
    """A file of text or bytes, compressed or not."""

    def read(self, size: int, /) -> Content:
        """Return at most so much."""


def pieces(stream: Readable[AnyStr], most: int) -> Iterator[AnyStr]:
    """Yield at most ``most`` bytes or characters, a mebibyte at a time.

    One read of so many would set aside memory for all of them, also for a file of three bytes.
    """
    while most and (piece := stream.read(min(most, PIECE))):
        yield piece
        most -= len(piece)


def read_bounded(path: str | os.PathLike[str], bytes_max: int) -> bytes:
    """Return the content; ``ValueError`` if too large or endless."""
    with Path(path).open("rb") as stream:
        data = b"".join(pieces(stream, bytes_max + 1))
    if len(data) > bytes_max:
        raise ValueError(f"it has more than {bytes_max:,} bytes")
    return data


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; ``ValueError`` if invalid or too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def read_toml(path: str | os.PathLike[str], bytes_max: int = 1 << 24) -> dict[str, Any]:
    """Parse TOML; ``ValueError`` if invalid, too deep or too large."""
    try:
        return tomllib.loads(read_bounded(path, bytes_max).decode())
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
