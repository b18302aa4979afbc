"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PART = ".part-"
"""How the name of an unfinished file begins."""


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Yield a name in the folder of ``path`` to write to; that file then replaces ``path``.

    It is synced to the disk first and gets the permissions of a file that it replaces. After an
    exception it is removed and ``path`` is as before. A missing folder is made. The unfinished name
    has the same ending as ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{PART}{secrets.token_hex(4)}-{path.name}"[-255:])
    try:
        yield part
        _sync(part)
        if path.exists():
            part.chmod(path.stat().st_mode)
        os.replace(part, path)
        if os.name == "posix":
            _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
