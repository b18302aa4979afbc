"""Atomic writes of outputs, which never replace a user's file.

A command may replace an empty file, or one of paraply of the same kind. ``--force`` allows others,
except the run's inputs.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from paraply.adapters.remote_files import is_url, open_unbuffered, size_of, whole_file
from paraply.errors import (
    OUTPUT_IS_INPUT,
    OUTPUT_NOT_OURS,
    OUTPUTS_SAME,
    REPORT_NOT_WRITTEN,
    STDOUT_TWICE,
)
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.whole_files import appearing

STANDARD_OUTPUT = "-"

KINDS: Mapping[str, re.Pattern[bytes]] = {
    "JSON": re.compile(rb'\s*\{\s*"(paraply"\s*:|format"\s*:\s*"paraply-)'),
    "JUnit": re.compile(rb'\s*<\?xml[^>]*\?>\s*<testsuites name="paraply '),
    "SARIF": re.compile(
        rb'\s*\{\s*"\$schema".{0,200}?"driver"\s*:\s*\{\s*"name"\s*:\s*"paraply', re.DOTALL
    ),
    "HTML": re.compile(
        rb'\s*<!DOCTYPE html>.{0,1500}?<meta name="generator" content="paraply ', re.DOTALL
    ),
    "history": re.compile(rb'\{"record":\s*"history",'),
    "group trace": re.compile(rb'\{"format_version":\d+,"server_version":"[^"]*","group_name":'),
    "SMT-LIB": re.compile(rb"; paraply "),
}
"""First bytes by kind, decompressed; Parquet names paraply at the end."""

APPENDED = "appended"
"""Instead of a kind: text is appended."""

_HEAD = 4096
_TAIL = 1 << 16
_WRITTEN_BY = re.compile(rb"written_by.{1,4}paraply", re.DOTALL)
_USERS_TO_MEND = frozenset(
    {
        errno.EACCES,
        errno.EEXIST,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ENXIO,
        errno.EPERM,
        errno.EROFS,
    }
)
"""Fixed by another name; a full or broken disk is exit code 70."""

_FileId = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one run may replace.

    ``inputs`` are device and inode of each input file, ``folders`` real paths.
    """

    inputs: frozenset[_FileId] = frozenset()
    folders: tuple[Path, ...] = ()
    force: bool = False


_claim = Claim()
_held: list[str] = []
_deferred: list[tuple[str, str]] | None = None


def claim(
    outputs: Mapping[str, tuple[str, str]],
    *,
    folders: Sequence[str] = (),
    inputs: Iterable[str] = (),
    force: bool = False,
) -> None:
    """Check the outputs of a run before its work.

    ``outputs`` maps option to file name and kind. Missing ``inputs`` are ignored.

    Raises ``ParaplyError``: P302 unwritable, P306 or P313 two outputs in one file, P311 an input,
    P312 not from paraply.
    """
    global _claim
    read = [name for name in inputs if os.path.exists(name)]
    _claim = Claim(
        inputs=frozenset(_id(Path(name)) for name in read),
        folders=tuple(Path(os.path.realpath(name)) for name in read if os.path.isdir(name)),
        force=force,
    )
    made = [folder for folder in folders if not os.path.isdir(folder)]
    for folder in folders:
        require_folder(folder)
    taken: dict[object, str] = {}
    _take_standard_output(taken)
    for option, (name, kind) in outputs.items():
        if name == STANDARD_OUTPUT:
            if name in taken:
                raise ParaplyError(STDOUT_TWICE, first=taken[name], second=option)
            taken[name] = option
            continue
        if is_url(name):
            require_writable(name, kind)
            if name in taken:
                raise ParaplyError(OUTPUTS_SAME, where=name, first=taken[name], second=option)
            taken[name] = option
            continue
        target = Path(os.path.realpath(name))
        if not any(target.is_relative_to(os.path.realpath(folder)) for folder in made):
            require_writable(name, kind)
        if target.exists() and not target.is_file():
            continue
        ids: list[object] = [target, *([_id(target)] if target.exists() else [])]
        for one in ids:
            if one in taken:
                raise ParaplyError(OUTPUTS_SAME, where=name, first=taken[one], second=option)
            taken[one] = option


def write_report(name: str, text: str) -> None:
    """Write ``text`` atomically to ``name``, or to standard output for ``-``.

    A pipe or device is written directly. Standard output waits for :func:`release`, so that a later
    failure leaves no verdict there. Raises P302, P311 or P312.
    """
    if _deferred is not None:
        _deferred.append((name, text))
        return
    if name == STANDARD_OUTPUT:
        _held.append(text)
        return
    data = text.encode(errors="surrogateescape")
    if is_url(name):
        with _url_faults(name), whole_file(name) as part:
            part.write_bytes(data)
        return
    with _users_faults(name):
        target = Path(os.path.realpath(name))
        if target.exists() and not target.is_file():
            with target.open("wb", buffering=0) as device:
                _write_all(device.fileno(), data)
            return
        with replacing(name, kind_of(data)) as part:
            part.write_bytes(data)


def defer() -> list[tuple[str, str]]:
    """Return a list that collects all reports from now on, for another process to write."""
    global _deferred
    _deferred = []
    return _deferred


def release() -> None:
    """Write the held standard output."""
    held, _held[:] = "".join(_held), []
    sys.stdout.write(held)


def drop_held() -> None:
    """Drop the held standard output."""
    _held.clear()


def reset() -> None:
    """Forget an earlier run in this process."""
    global _claim
    _claim = Claim()
    _held.clear()


def discard(name: str, text: str) -> None:
    """Remove an earlier report of the same kind."""
    target = Path(os.path.realpath(name))
    with suppress(OSError, ParaplyError):
        if name != STANDARD_OUTPUT and target.is_file() and target.stat().st_size:
            _require_ours(name, target, kind_of(text.encode()))
            target.unlink()


@contextmanager
def replacing(name: str, kind: str) -> Iterator[Path]:
    """Yield a path; its file replaces ``name`` at the end.

    Raises P302, P311 or P312.
    """
    target = Path(os.path.realpath(name))
    _require_ours(name, target, kind)
    with _users_faults(name):
        if not target.parent.is_dir():
            raise ParaplyError(
                REPORT_NOT_WRITTEN, where=name, reason=f"there is no folder {target.parent}"
            )
        with appearing(target) as part:
            yield part


def write_reports(folder: str, files: Mapping[str, str]) -> None:
    """Write files of a folder after checking all."""
    if _deferred is not None:
        _deferred.extend((os.path.join(folder, name), text) for name, text in files.items())
        return
    make_folder(folder)
    for name, text in files.items():
        path = os.path.join(folder, name)
        _require_ours(path, Path(os.path.realpath(path)), kind_of(text.encode()))
    for name, text in files.items():
        write_report(os.path.join(folder, name), text)


def kind_of(head: bytes) -> str:
    """Return the kind by first bytes; else empty."""
    return next((kind for kind, form in KINDS.items() if form.match(head[:_HEAD])), "")


def require_writable(name: str, kind: str) -> None:
    """Raise P302, P311 or P312 for an unwritable file or URL, unless another process writes."""
    if _deferred is not None:
        return
    if is_url(name):
        _require_ours_there(name, kind)
        return
    target = Path(os.path.realpath(name))
    if target.is_dir():
        raise ParaplyError(REPORT_NOT_WRITTEN, where=name, reason="it is a folder")
    if target.is_block_device():
        raise ParaplyError(REPORT_NOT_WRITTEN, where=name, reason="it is a disk")
    if not target.parent.is_dir():
        raise ParaplyError(
            REPORT_NOT_WRITTEN, where=name, reason=f"there is no folder {target.parent}"
        )
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise ParaplyError(REPORT_NOT_WRITTEN, where=name, reason="permission denied")
    _require_ours(name, target, kind)


def require_folder(name: str) -> None:
    """Raise P302 if a folder cannot exist, unless another process writes; URLs have none."""
    if _deferred is not None or is_url(name):
        return
    folder = Path(os.path.realpath(name))
    while not folder.exists():
        folder = folder.parent
    with _users_faults(name), tempfile.TemporaryDirectory(dir=folder, prefix=".paraply-"):
        pass


def make_folder(name: str) -> None:
    """Make a writable folder; else P302."""
    require_folder(name)
    if is_url(name):
        return
    os.makedirs(os.path.realpath(name), exist_ok=True)


def _require_ours(name: str, target: Path, kind: str) -> None:
    if not target.is_file():
        return
    if _id(target) in _claim.inputs:
        raise ParaplyError(OUTPUT_IS_INPUT, where=name)
    is_ours = bool(kind) and _kind_of_file(target) == kind
    if kind == APPENDED or is_ours or not target.stat().st_size:
        return
    if any(target.is_relative_to(folder) for folder in _claim.folders):
        raise ParaplyError(OUTPUT_IS_INPUT, where=name)
    if not _claim.force:
        raise ParaplyError(OUTPUT_NOT_OURS, where=name)


def _require_ours_there(name: str, kind: str) -> None:
    with _url_faults(name):
        try:
            size = size_of(name)
        except FileNotFoundError:
            return
        with open_unbuffered(name) as file:
            is_ours = bool(kind) and _kind_of_stream(file, size) == kind
    if size and not is_ours and not _claim.force:
        raise ParaplyError(OUTPUT_NOT_OURS, where=name)


@contextmanager
def _url_faults(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ParaplyError(
            REPORT_NOT_WRITTEN, where=name, reason=error.strerror or str(error)
        ) from None


def _kind_of_file(target: Path) -> str:
    try:
        with target.open("rb") as file:
            return _kind_of_stream(file, os.fstat(file.fileno()).st_size)
    except PermissionError:
        return ""


def _kind_of_stream(file: BinaryIO, size: int) -> str:
    head = file.read(_HEAD)
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return ""
    elif head.startswith(b"PAR1"):
        file.seek(max(0, size - _TAIL))
        return "Parquet" if _WRITTEN_BY.search(file.read(_TAIL)) else ""
    return kind_of(head)


def _take_standard_output(taken: dict[object, str]) -> None:
    try:
        found = os.fstat(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return
    if stat.S_ISREG(found.st_mode):
        taken[found.st_dev, found.st_ino] = "standard output"


def _id(path: Path) -> _FileId:
    found = path.stat()
    return found.st_dev, found.st_ino


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


@contextmanager
def _users_faults(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _USERS_TO_MEND:
            raise
        raise ParaplyError(
            REPORT_NOT_WRITTEN, where=name, reason=error.strerror or str(error)
        ) from None
