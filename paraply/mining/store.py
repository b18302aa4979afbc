"""Stores campaign files locally or at a URL.

Writes are atomic: disks sync and rename, object stores publish on close.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from paraply.adapters.filesystems import (
    filesystem_of,
    is_unreachable,
    plain_url,
    storage_failed,
)
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.input_documents import pieces
from paraply.vocabulary.whole_files import sync, sync_folder

STORE_FAILED = register(
    "P721",
    "the folder cannot be used: {reason}",
    "name a folder that you may write to, or a URL such as s3://bucket/folder",
)

PART = ".part"
"""Suffix of unfinished files."""
STALE_S = 86_400.0
"""Age of leftovers."""
FILE_BYTES_MAX = 1 << 28
"""Of a file that is read; files of rows have an eighth of it."""
DOCUMENT_BYTES_MAX = 1 << 26
"""Of a file of JSON, which takes some twenty times as much memory."""


class Store(Protocol):
    """Small files by name, ``/`` separates folders.

    Names may come from a stranger's commit log. All methods raise ``ParaplyError`` P721 for a name
    that leaves the folder, also by a link, and for a file that is no regular one or too large.
    """

    url: str

    def write(self, name: str, data: bytes) -> None:
        """Write or replace a file atomically."""

    def sync(self, folder: str, first: str) -> None:
        """Wait until the disk has a folder's files from the name ``first`` on."""

    def read(self, name: str, bytes_max: int = FILE_BYTES_MAX) -> bytes | None:
        """Return a file's content; None if absent."""

    def require_readable(self, folder: str) -> None:
        """Refuse a folder with a file below that :meth:`read` refuses, for other libraries."""

    def names(self, folder: str) -> list[str]:
        """Return finished files in a folder, sorted."""

    def ages(self, folder: str) -> dict[str, float]:
        """Return finished files with seconds since writing."""

    def delete(self, name: str) -> None:
        """Remove a file if present."""

    def sweep(self) -> int:
        """Remove killed processes' leftovers; return their number."""


class DiskStore:
    """Files in a local or shared folder."""

    def __init__(self, folder: str) -> None:
        self.url = folder
        self.root = Path(folder)

    def _place(self, name: str, *, is_followed: bool = False) -> Path:
        """Return the path; a link in its place is replaced or removed, and followed by readers."""
        place = self.root / _inside(self.url, name)
        end = place if is_followed else place.parent
        try:
            is_inside = end.resolve().is_relative_to(self.root.resolve())
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, Python 3.12.
            raise store_failed(str(place), error) from None
        if not is_inside:
            raise _leaves(self.url, name)
        return place

    def write(self, name: str, data: bytes) -> None:
        """Write, sync and rename; P721 on failure."""
        target = self._place(name)
        part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}{PART}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(part, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
            sync_folder(target.parent)
        except OSError as error:
            raise store_failed(str(target), error) from None
        finally:
            with suppress(OSError):
                part.unlink()

    def sync(self, folder: str, first: str) -> None:
        """Sync files that other libraries wrote; P721 on failure."""
        place = self._place(f"{folder}/{first}").parent
        try:
            for name in self.names(folder):
                if name >= first:
                    sync(place / name)
            sync_folder(place)
        except OSError as error:
            raise store_failed(str(place), error) from None

    def read(self, name: str, bytes_max: int = FILE_BYTES_MAX) -> bytes | None:
        """Return a file's content; None if absent."""
        place = self._place(name, is_followed=True)
        try:
            with open(place, "rb", opener=_opened_at_once) as file:
                found = os.fstat(file.fileno())
                _require_readable(place, found, bytes_max)
                return file.read(found.st_size)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_failed(str(place), error) from None

    def readable(self, name: str, bytes_max: int = FILE_BYTES_MAX) -> Path:
        """Return the path of a file that :meth:`read` accepts or misses."""
        place = self._place(name, is_followed=True)
        try:
            _require_readable(place, place.stat(), bytes_max)
        except FileNotFoundError:
            return place
        except OSError as error:
            raise store_failed(str(place), error) from None
        return place

    def require_readable(self, folder: str) -> None:
        """Refuse a folder with a file below that :meth:`read` refuses."""
        waiting = [folder]
        while waiting:
            name = waiting.pop()
            place = self._place(name, is_followed=True)
            try:
                with os.scandir(place) as entries:
                    for entry in entries:
                        # A link to a folder is refused, too: other libraries would follow it.
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(f"{name}/{entry.name}")
                        elif entry.is_symlink() or not _is_usual(entry):
                            self.readable(f"{name}/{entry.name}")
            except FileNotFoundError:
                continue
            except OSError as error:
                raise store_failed(str(place), error) from None

    def names(self, folder: str) -> list[str]:
        """Return finished files, sorted."""
        place = self._place(f"{folder}/*").parent
        try:
            listed = os.listdir(place)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise store_failed(str(place), error) from None
        return sorted(name for name in listed if not name.startswith("."))

    def ages(self, folder: str) -> dict[str, float]:
        """Return finished files with their ages."""
        now = time.time()
        found = {}
        for name in self.names(folder):
            with suppress(FileNotFoundError):
                found[name] = now - (self.root / folder / name).stat().st_mtime
        return found

    def delete(self, name: str) -> None:
        """Remove a file if present."""
        place = self._place(name)
        try:
            place.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise store_failed(str(place), error) from None

    def sweep(self) -> int:
        """Remove unfinished files older than :data:`STALE_S`."""
        oldest = time.time() - STALE_S
        left = [
            path
            for path in self.root.rglob(f".*{PART}")
            if not path.is_dir() and path.lstat().st_mtime < oldest
        ]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)


class ArrowStore:
    """Files at ``s3://``, ``gs://``, ``abfs://``, ``hdfs://``."""

    def __init__(self, url: str, filesystem: pafs.FileSystem | None = None) -> None:
        self.url = url
        self._root = url
        try:
            if filesystem is None:
                filesystem, self._root = filesystem_of(url)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise store_failed(url, error) from None
        self._files = filesystem
        self._root = self._root.rstrip("/")

    def write(self, name: str, data: bytes) -> None:
        """Upload the file; rename where folders exist."""
        target = f"{self._root}/{_inside(self.url, name)}"
        part = f"{target.rpartition('/')[0]}/.{secrets.token_hex(8)}{PART}"
        is_object_store = self._files.type_name in ("s3", "gcs", "abfs")
        place = target if is_object_store else part
        try:
            if not is_object_store:
                self._files.create_dir(target.rpartition("/")[0], recursive=True)
            with self._files.open_output_stream(place) as stream:
                stream.write(data)
            if place != target:
                self._files.move(place, target)
        except (OSError, pa.ArrowException) as error:
            raise store_failed(target, error) from None

    def sync(self, folder: str, first: str) -> None:
        """Do nothing: what is written there stays."""

    def read(self, name: str, bytes_max: int = FILE_BYTES_MAX) -> bytes | None:
        """Return a file's content; None if absent."""
        try:
            with self._files.open_input_stream(f"{self._root}/{_inside(self.url, name)}") as stream:
                data = b"".join(pieces(stream, bytes_max + 1))
        except FileNotFoundError:
            return None
        except (OSError, pa.ArrowException) as error:
            raise store_failed(f"{self.url}/{name}", error) from None
        if len(data) > bytes_max:
            raise _too_large(f"{self.url}/{name}", bytes_max)
        return data

    def require_readable(self, folder: str) -> None:
        """Do nothing: an object store has neither links nor devices."""

    def names(self, folder: str) -> list[str]:
        """Return finished files, sorted."""
        return sorted(self.ages(folder))

    def ages(self, folder: str) -> dict[str, float]:
        """Return finished files with their ages."""
        selector = pafs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
        now = time.time()
        try:
            return {
                info.base_name: now - (info.mtime_ns or 0) / 1e9
                for info in self._files.get_file_info(selector)
                if info.type == pafs.FileType.File and not info.base_name.startswith(".")
            }
        except (OSError, pa.ArrowException) as error:
            raise store_failed(f"{self.url}/{folder}", error) from None

    def delete(self, name: str) -> None:
        """Remove a file if present."""
        place = f"{self._root}/{_inside(self.url, name)}"
        try:
            self._files.delete_file(place)
        except FileNotFoundError:
            return
        except (OSError, pa.ArrowException) as error:
            raise store_failed(f"{self.url}/{name}", error) from None

    def sweep(self) -> int:
        """Remove stale files; object stores have none."""
        selector = pafs.FileSelector(self._root, recursive=True, allow_not_found=True)
        oldest = time.time() - STALE_S
        try:
            left = [
                info
                for info in self._files.get_file_info(selector)
                if info.path.endswith(PART) and (info.mtime_ns or 0) / 1e9 < oldest
            ]
            for info in left:
                self._files.delete_file(info.path)
        except (OSError, pa.ArrowException) as error:
            raise store_failed(self.url, error) from None
        return len(left)


def located(place: str) -> str:
    """Return an absolute path or openable URL.

    >>> located("s3a://bucket/mine/"), located("file:///data/mine")
    ('s3://bucket/mine', '/data/mine')
    """
    if "://" not in place:
        return os.path.abspath(place)
    if place.startswith("file://"):
        return os.path.abspath(unquote(urlsplit(place).path))
    return plain_url(place).rstrip("/")


def store_at(place: str) -> Store:
    """Return a place's store."""
    url = located(place)
    return ArrowStore(url) if "://" in url else DiskStore(url)


def _inside(url: str, name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.name:
        raise _leaves(url, name)
    return name


def _leaves(url: str, name: str) -> ParaplyError:
    return ParaplyError(STORE_FAILED, where=url, reason=f"the name {name!r} leaves it")


def _opened_at_once(path: str, flags: int) -> int:
    # A named pipe would wait for a writer.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _is_usual(entry: os.DirEntry[str]) -> bool:
    # To resolve the paths of thousands of files takes a second.
    with suppress(FileNotFoundError):
        found = entry.stat(follow_symlinks=False)
        return stat.S_ISREG(found.st_mode) and found.st_size <= FILE_BYTES_MAX
    return True


def _require_readable(place: Path, found: os.stat_result, bytes_max: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ParaplyError(STORE_FAILED, where=str(place), reason="it is not a regular file")
    if found.st_size > bytes_max:
        raise _too_large(str(place), bytes_max)


def _too_large(where: str, bytes_max: int) -> ParaplyError:
    return ParaplyError(STORE_FAILED, where=where, reason=f"it has more than {bytes_max:,} bytes")


def store_failed(where: str, error: BaseException) -> ParaplyError:
    """Return P721 with the system's error, or P752 for a storage out of reach."""
    if isinstance(error, OSError) and is_unreachable(error):
        return storage_failed(where, error)
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return ParaplyError(STORE_FAILED, where=where, reason=reason)
