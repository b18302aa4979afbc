"""Files by which the workers on a log's parts hand over what is too large for a driver.

They lie in a folder or below a URL that all workers reach, appear whole, and are removed at the
end.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from paraply.adapters.remote_files import drop_folder, is_url
from paraply.vocabulary.errors import ParaplyError, register

if TYPE_CHECKING:
    from paraply.mining.store import Store

NO_SHARED_FOLDER = register(
    "P328",
    "there is no place for what is carried from part to part: {reason}",
    "name a folder that all workers reach with --out",
)


def write(data: bytes, path: str) -> None:
    """Write a file atomically."""
    if is_url(path):
        store, name = _place_of(path)
        store.write(name, data)
        return
    # Not synced: no other run reads it.
    unfinished = Path(f"{path}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    except FileNotFoundError as error:
        raise ParaplyError(NO_SHARED_FOLDER, reason=str(error)) from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def read(path: str) -> bytes:
    """Return the content of a file of this run; else raise P328."""
    try:
        data = _read(path)
    except ParaplyError as error:
        raise ParaplyError(NO_SHARED_FOLDER, reason=error.text) from None
    if data is None:
        raise ParaplyError(NO_SHARED_FOLDER, reason=f"{path}: no such file or directory")
    return data


def drop(path: str) -> None:
    """Remove a file, if there is one."""
    if is_url(path):
        store, name = _place_of(path)
        store.delete(name)
        return
    Path(path).unlink(missing_ok=True)


@contextmanager
def folder_of_parts(folder: str | None, prefix: str) -> Iterator[str]:
    """Yield a place for files below a folder or URL (None: local); remove it at the end."""
    if folder is None or not is_url(folder):
        with TemporaryDirectory(prefix=prefix, dir=folder) as place:
            yield place
        return
    place = f"{folder.rstrip('/')}/{prefix}{secrets.token_hex(8)}"
    try:
        yield place
    finally:
        drop_folder(place)


def _read(path: str) -> bytes | None:
    if is_url(path):
        store, name = _place_of(path)
        return store.read(name)
    with suppress(FileNotFoundError):
        return Path(path).read_bytes()
    return None


def _place_of(path: str) -> tuple[Store, str]:
    # Imported late: files on a disk need no Arrow.
    from paraply.mining.store import store_at

    folder, _, name = path.rpartition("/")
    return store_at(folder), name
