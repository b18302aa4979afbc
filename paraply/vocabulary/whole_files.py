"""Atomic file writes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PART = ".part-"


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Yield a temporary name that replaces ``path`` at the end.

    It is synced first and gets the replaced file's permissions and suffix. An exception removes it.
    A missing folder is created.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{PART}{secrets.token_hex(4)}-{path.name}"[-255:])
    try:
        yield part
        sync(part)
        if path.exists():
            part.chmod(path.stat().st_mode)
        os.replace(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until the disk has the content of a file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder."""
    if os.name == "posix":
        sync(folder)
