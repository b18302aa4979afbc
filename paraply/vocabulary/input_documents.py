"""Documents from outside: read up to a size, and refused where they are nested too deeply."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

TOO_DEEP = "it is nested too deeply"


def read_bounded(path: str | os.PathLike[str], bytes_max: int) -> bytes:
    """Return what a file holds; ``ValueError`` if it is larger, also for an endless device."""
    with Path(path).open("rb") as stream:
        data = stream.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise ValueError(f"it has more than {bytes_max:,} bytes")
    return data


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; ``ValueError`` if it is not JSON or too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def read_toml(path: str | os.PathLike[str], bytes_max: int = 1 << 24) -> dict[str, Any]:
    """Return a TOML document; ``ValueError`` if it is none, too deep or too large."""
    try:
        return tomllib.loads(read_bounded(path, bytes_max).decode())
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
