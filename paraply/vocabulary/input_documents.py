"""Outside documents, limited in size and nesting."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

TOO_DEEP = "it is nested too deeply"


def read_bounded(path: str | os.PathLike[str], bytes_max: int) -> bytes:
    """Return the content; ``ValueError`` if too large or endless."""
    with Path(path).open("rb") as stream:
        data = stream.read(bytes_max + 1)
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
