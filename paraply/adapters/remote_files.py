"""Uniform access to local files and object storage (``s3://``, ``gs://``, ``abfs://``).

It never reads ahead, since buckets charge by the byte. A storage that does not answer, or refuses,
raises ``ParaplyError`` P752; an absent or forbidden file ``OSError``, as a local one.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import unquote, urlsplit

from paraply.adapters.filesystems import filesystem_of, is_unreachable, storage_failed
from paraply.vocabulary.whole_files import appearing

BUFFER_BYTES = 1 << 20
WAITS_S = (0.1, 0.2, 0.4, 0.8)
"""Before each further attempt of a request that failed."""

T = TypeVar("T")


def is_url(name: str) -> bool:
    """Return whether a name is an object URL."""
    return "://" in name and not name.startswith("file://")


def path_of(name: str) -> str:
    """Return the path without ``file://``."""
    return unquote(urlsplit(name).path) if name.startswith("file://") else name


_PIPE = "it is a pipe, which can be read only once; give it as standard input, by the name -"


def open_range(
    name: str, begin: int = 0, end: int | None = None, *, buffer_bytes: int = BUFFER_BYTES
) -> BinaryIO:
    """Return a stream positioned at ``begin``.

    It requests no remote byte from ``end`` on. Raises ``OSError``.
    """
    if not is_url(name):
        if stat.S_ISFIFO(os.stat(path_of(name)).st_mode):
            raise OSError(errno.ESPIPE, _PIPE)
        stream = open(path_of(name), "rb", buffer_bytes)  # noqa: SIM115 - the caller closes it
        stream.seek(begin)
        return stream
    raw = _asked_again(name, lambda: _opened(name, begin, end))
    return cast("BinaryIO", io.BufferedReader(raw, buffer_bytes))


def open_unbuffered(name: str) -> BinaryIO:
    """Return a random-access file; each remote read is a request."""
    if not is_url(name):
        return open(path_of(name), "rb")
    return cast("BinaryIO", _asked_again(name, lambda: _opened(name, 0, None)))


def arrow_source(name: str) -> str | BinaryIO:
    """Return what Arrow's readers open: a path, or a remote file of :func:`open_unbuffered`."""
    return open_unbuffered(name) if is_url(name) else path_of(name)


def size_of(name: str) -> int:
    """Return the size in bytes; raises ``OSError``."""
    if not is_url(name):
        return os.path.getsize(path_of(name))
    info = _asked_again(name, lambda: _info(name, lambda path: path))
    if info.size is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return int(info.size)


def names_in(folder: str) -> list[str]:
    """Return the files directly below a folder; none of a file."""
    if not is_url(folder):
        path = Path(path_of(folder))
        return sorted(map(str, path.iterdir())) if path.is_dir() else []
    import pyarrow.fs as pafs

    infos = _asked_again(
        folder,
        lambda: _info(folder, lambda path: pafs.FileSelector(path, allow_not_found=True)),
    )
    base = folder.rstrip("/")
    return [f"{base}/{info.base_name}" for info in infos if info.type == pafs.FileType.File]


@contextmanager
def whole_file(name: str) -> Iterator[Path]:
    """Yield a local path; its file appears at ``name`` at the end, completely. Raises ``OSError``.

    An exception leaves ``name`` as it was.
    """
    if not is_url(name):
        with appearing(Path(path_of(name))) as part:
            yield part
        return
    with TemporaryDirectory(prefix="paraply-upload-") as folder:
        part = Path(folder) / "part"
        yield part
        with _storage_faults(name), part.open("rb") as source:
            files, path = filesystem_of(name)
            with files.open_output_stream(path) as target:
                shutil.copyfileobj(source, target, BUFFER_BYTES)


def drop_folder(folder: str) -> None:
    """Remove a folder URL and all that is in it."""
    with _storage_faults(folder):
        files, path = filesystem_of(folder)
        import pyarrow.fs as pafs

        selector = pafs.FileSelector(path, allow_not_found=True, recursive=True)
        for info in files.get_file_info(selector):
            if info.type == pafs.FileType.File:
                files.delete_file(info.path)
        # Some buckets have no folder apart from its files, and Google's refuses to delete none.
        with suppress(OSError):
            files.delete_dir(path)


class RangeOfUrl(io.RawIOBase):
    """A remote range; each read requests exactly its bytes."""

    fetched = 0
    """Bytes requested in this process."""

    def __init__(self, name: str, file: Any, begin: int, end: int | None) -> None:
        self._name, self._file, self._at = name, file, begin
        self._end = file.size() if end is None else end

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._end}[whence]
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer up to the range's end."""
        count = max(0, min(len(buffer), self._end - self._at))
        if not count:
            return 0
        data = _asked_again(self._name, lambda: self._file.read_at(count, self._at))
        RangeOfUrl.fetched += len(data)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        """Close the remote file."""
        self._file.close()
        super().close()


def _opened(name: str, begin: int, end: int | None) -> RangeOfUrl:
    files, path = filesystem_of(name)
    return RangeOfUrl(name, files.open_input_file(path), begin, end)


def _info(name: str, selected: Callable[[str], Any]) -> Any:
    files, path = filesystem_of(name)
    return files.get_file_info(selected(path))


def _asked_again(name: str, ask: Callable[[], T]) -> T:
    """Return an answer, after some attempts if a store is busy.

    AWS's library repeats requests, too, but gives up where the refusal is longer than what was
    asked for.
    """
    for wait_s in WAITS_S:
        try:
            with _as_os_errors():
                return ask()
        except OSError as error:
            if error.errno is not None:
                raise  # Absent or forbidden: it stays so.
            if is_unreachable(error):
                raise storage_failed(name, error) from None
        time.sleep(wait_s)
    with _storage_faults(name):
        return ask()


@contextmanager
def _storage_faults(name: str) -> Iterator[None]:
    try:
        with _as_os_errors():
            yield
    except OSError as error:
        if error.errno is not None:
            raise
        raise storage_failed(name, error) from None


@contextmanager
def _as_os_errors() -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError) as error:
        raise OSError(str(error).partition("\n")[0]) from None
    except OSError as error:
        if error.strerror is None:
            raise OSError(str(error).partition("\n")[0]) from None
        raise
