"""A simulated operating system below the file and clock calls of one process.

It numbers every call on a file in one folder (the *world*), and every look of the tool's first
thread at a clock. It lets the n-th fail, or be the last.

A crash may take from the disk what it may lose when the power fails: contents that no ``fsync``
reached, and new names, renames and removals in a folder without one. New folders stay: common file
systems write them with the first ``fsync`` of a file in them. Files that native code writes (Arrow,
delta-rs) are not numbered, but their contents are lost unless Python syncs them.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path

REAL = {name: getattr(os, name) for name in dir(os) if callable(getattr(os, name))}
REAL_OPEN = io.open
CLOCKS = ("time", "monotonic", "perf_counter")
REAL_CLOCKS = {name: getattr(time, name) for name in (*CLOCKS, "sleep")}
EXIT_CRASHED = 99
DAY_S = 86_400.0
STILL_LOOKS = 20


class Fault(Enum):
    """How the n-th call fails."""

    ENOSPC = errno.ENOSPC
    EIO = errno.EIO
    EINTR = errno.EINTR
    FULL = "the disk stays full"
    SHORT = "half of the bytes"
    MEMORY = "no memory"
    BACK = "the clock goes back a day"
    STILL = "the clock stands still for some looks"
    KILLED = "killed"
    CONTENTS_LOST = "power fails, contents are lost"
    NAMES_LOST = "power fails, names are lost"


CRASHES = (Fault.KILLED, Fault.CONTENTS_LOST, Fault.NAMES_LOST)
_TAKES_SPACE = {"create", "write", "sync", "rename", "mkdir", "link"}
_CHANGES = {*_TAKES_SPACE, "unlink", "rmdir", "chmod", "truncate"}
_WAITS = {*_CHANGES, "open", "read", "close"}
_CLOCK = "clock"


def faults_of(call: str) -> tuple[Fault, ...]:
    """Return the faults that fit a call; crashes only where the disk differs from before."""
    kind = call.partition(" ")[0]
    if kind == _CLOCK:
        return (Fault.BACK, Fault.STILL) if call.endswith(" time") else (Fault.STILL,)
    fits = {
        Fault.EIO: True,
        Fault.MEMORY: True,
        Fault.EINTR: kind in _WAITS,
        Fault.ENOSPC: kind in _TAKES_SPACE,
        Fault.FULL: kind in _TAKES_SPACE,
        Fault.SHORT: kind in ("read", "write"),
        **dict.fromkeys(CRASHES, kind in _CHANGES),
    }
    return tuple(fault for fault, does in fits.items() if does)


class _Raw(io.FileIO):
    """An open file of the world; Python's buffers call these methods as they call the system."""

    system: SimulatedSystem
    place: str

    def write(self, data):
        self.system.changed(self.fileno(), self.tell())
        if self.system.call("write", self.place, lambda: io.FileIO.write(self, half(data))):
            data = half(data)
        return super().write(data)

    def readinto(self, buffer):
        if self.system.call("read", self.place):
            buffer = memoryview(buffer)[: max(1, len(buffer) // 2)]
        return super().readinto(buffer)

    def readall(self):
        # One byte more than the file has: a second call would find the end.
        left = os.fstat(self.fileno()).st_size - self.tell()
        chunks = []
        while chunk := self.read(max(1, left + 1)):
            chunks.append(chunk)
        return b"".join(chunks)

    def read(self, size=-1):
        if size is None or size < 0:
            return self.readall()
        if self.system.call("read", self.place):
            size = max(1, size // 2)
        return super().read(size)

    def close(self):
        was_written = not self.closed and self.writable()
        super().close()
        if was_written:
            self.system.call("close", self.place)


def half(data):
    """Return the first half of a buffer, one byte at least."""
    return memoryview(data).cast("B")[: max(1, len(memoryview(data).cast("B")) // 2)]


class SimulatedSystem:
    """Replaces the calls of ``os``, ``open`` and ``time`` while it is entered.

    ``folder`` is the world, ``shadow`` a folder for what a crash brings back, ``tool`` the sources
    whose looks at the clock count. ``on_crash`` runs last, before the process ends.
    """

    def __init__(
        self,
        folder: Path,
        shadow: Path,
        *,
        tool: tuple[str, ...],
        at: int = 0,
        fault: Fault | None = None,
        on_crash: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder, self.shadow, self.tool = str(folder), shadow, tool
        self.at, self.fault, self.on_crash = at, fault, on_crash
        self.calls: list[str] = []
        self._is_full = False
        self._still = 0
        self._back_s = self._ticks = 0.0
        self._synced: dict[int, tuple[int, int]] = {}
        self._safe: dict[int, int] = {}
        self._names: list[tuple[set[str], Callable[[], None]]] = []
        self._kept = 0
        self._thread = threading.get_ident()
        self._start = {name: REAL_CLOCKS[name]() for name in CLOCKS}

    # What the process calls.

    def call(self, kind: str, place: str, torn: Callable[[], object] = lambda: None) -> bool:
        """Count a call and let it fail; return whether it may do half of its work only."""
        self.calls.append(f"{kind} {os.path.relpath(place, self.folder)}")
        if self._is_full and kind in _TAKES_SPACE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)
        # A program that waits calls in another order now and then.
        if len(self.calls) != self.at or self.fault in (None, Fault.BACK, Fault.STILL):
            return False
        if self.fault in CRASHES:
            torn()
            self.crash()
        if self.fault is Fault.MEMORY:
            raise MemoryError
        if self.fault is Fault.SHORT:
            return True
        self._is_full = self.fault is Fault.FULL
        number = errno.ENOSPC if self._is_full else self.fault.value
        raise OSError(number, os.strerror(number), place)

    def crash(self) -> None:
        """End the process; the disk keeps what the kind of crash leaves."""
        self.lose()
        self.on_crash()
        REAL["_exit"](EXIT_CRASHED)

    def lose(self) -> None:
        """Take from the disk what a power failure may."""
        if self.fault is Fault.NAMES_LOST:
            for _, undo in reversed(self._names):
                with suppress(FileNotFoundError, FileExistsError):
                    undo()
        if self.fault is Fault.CONTENTS_LOST:
            for place, found in self._files():
                if self._synced.get(found.st_ino) != (found.st_mtime_ns, found.st_size):
                    kept = max(found.st_size // 2, self._safe.get(found.st_ino, 0))
                    REAL["truncate"](place, min(kept, found.st_size))

    def changed(self, handle: int, at: int) -> None:
        """Take the bytes of a file from ``at`` on as not synced."""
        number = os.fstat(handle).st_ino
        self._synced.pop(number, None)
        self._safe[number] = min(at, self._safe.get(number, 0))

    def _take_synced(self, found: os.stat_result) -> None:
        self._synced[found.st_ino] = (found.st_mtime_ns, found.st_size)
        self._safe[found.st_ino] = found.st_size

    def _open_file(
        self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
        closefd=True, opener=None,
    ):  # fmt: skip
        place = self._inside(file)
        if place is None:
            return REAL_OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
        writes = any(letter in mode for letter in "wax+")
        if opener is None and not isinstance(file, int):
            self._opens(place, creates=any(letter in mode for letter in "wax"))
        raw = _Raw(file, mode.replace("t", ""), closefd, opener)
        raw.system, raw.place = self, place
        if "w" in mode:
            self.changed(raw.fileno(), 0)
        if buffering == 0:
            return raw
        kind = io.BufferedRandom if "+" in mode else io.BufferedWriter if writes else None
        buffered = (kind or io.BufferedReader)(raw)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, io.text_encoding(encoding), errors, newline)

    def _open(self, path, flags, mode=0o777, *, dir_fd=None):
        place = self._inside(path, dir_fd)
        is_nameless = flags & os.O_TMPFILE == os.O_TMPFILE
        if place is not None:
            self._opens(place, creates=bool(flags & os.O_CREAT) and not is_nameless)
        handle = REAL["open"](path, flags, mode, dir_fd=dir_fd)
        if place is not None and flags & os.O_TRUNC:
            self.changed(handle, 0)
        return handle

    def _opens(self, place: str, *, creates: bool) -> None:
        is_new = creates and not _is_there(place)
        self.call("create" if is_new else "open", place)
        if is_new:
            self._names.append(({os.path.dirname(place)}, lambda: REAL["unlink"](place)))

    def _write(self, handle, data):
        place = self._inside(handle)
        if place is not None:
            self.changed(handle, REAL["lseek"](handle, 0, os.SEEK_CUR))
            if self.call("write", place, lambda: REAL["write"](handle, half(data))):
                data = half(data)
        return REAL["write"](handle, data)

    def _read(self, handle, size):
        place = self._inside(handle)
        if place is not None and self.call("read", place):
            size = max(1, size // 2)
        return REAL["read"](handle, size)

    def _fsync(self, handle):
        place = self._inside(handle)
        if place is None:
            return REAL["fsync"](handle)
        self.call("sync", place)
        self._take_synced(os.fstat(handle))
        self._names = [one for one in self._names if place not in one[0]]
        return None

    def _rename(self, source, target, *, src_dir_fd=None, dst_dir_fd=None):
        old, new = self._inside(source, src_dir_fd), self._inside(target, dst_dir_fd)
        if old is None or new is None:
            return REAL["rename"](source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self.call("rename", new)
        bring_back = self._keep(new)
        REAL["rename"](old, new)

        def undo() -> None:
            REAL["rename"](new, old)
            bring_back()

        self._names.append(({os.path.dirname(old), os.path.dirname(new)}, undo))
        return None

    def _unlink(self, path, *, dir_fd=None):
        place = self._inside(path, dir_fd)
        if place is None:
            return REAL["unlink"](path, dir_fd=dir_fd)
        self.call("unlink", place)
        bring_back = self._keep(place)
        REAL["unlink"](path, dir_fd=dir_fd)
        self._names.append(({os.path.dirname(place)}, bring_back))
        return None

    def _other(self, kind: str, name: str) -> Callable[..., object]:
        real = REAL[name]

        def called(path=".", *rest, **named):
            place = self._inside(path, named.get("dir_fd"))
            if place is not None:
                self.call(kind, place)
            return real(path, *rest, **named)

        return called

    def _clock(self, name: str) -> Callable[[], float]:
        def read() -> float:
            is_tool = sys._getframe(1).f_code.co_filename.startswith(self.tool)
            if not is_tool or threading.get_ident() != self._thread:
                return REAL_CLOCKS[name]()
            self.calls.append(f"{_CLOCK} {name}")
            if len(self.calls) == self.at:
                self._back_s = DAY_S if self.fault is Fault.BACK else 0.0
                self._still = STILL_LOOKS if self.fault is Fault.STILL else 0
                if self.fault in CRASHES:
                    self.crash()
            self._ticks += 0.0 if self._still else 0.001
            self._still = max(0, self._still - 1)
            # Only the clock on the wall can be set.
            return self._start[name] + self._ticks - (self._back_s if name == "time" else 0.0)

        return read

    # What it is made of.

    def _inside(self, path, dir_fd=None) -> str | None:
        if isinstance(path, int) or dir_fd is not None:
            handle = path if isinstance(path, int) else dir_fd
            try:
                base = REAL["readlink"](f"/proc/self/fd/{handle}")
            except OSError:
                return None
            place = base if isinstance(path, int) else os.path.join(base, os.fsdecode(path))
        else:
            place = os.path.abspath(os.fsdecode(path))
        inside = place == self.folder or place.startswith(self.folder + os.sep)
        return place if inside else None

    def _keep(self, place: str) -> Callable[[], None]:
        """Keep a file that loses its name; return what brings it back."""
        if not _is_there(place):
            return lambda: None
        self._kept += 1
        kept = self.shadow / str(self._kept)
        REAL["link"](place, kept)
        return lambda: REAL["link"](kept, place)

    def _files(self):
        for folder, _, names in os.walk(self.folder):
            for name in names:
                place = os.path.join(folder, name)
                yield place, REAL["lstat"](place)

    def __enter__(self) -> SimulatedSystem:
        for _, found in self._files():
            self._take_synced(found)
        os.open, os.write, os.read = self._open, self._write, self._read
        os.fsync = os.fdatasync = self._fsync
        os.replace = os.rename = self._rename
        os.unlink = os.remove = self._unlink
        for kind in ("mkdir", "rmdir", "link", "chmod", "truncate", "stat", "listdir", "scandir"):
            setattr(os, kind, self._other(kind, kind))
        builtins.open = io.open = sys.modules["_io"].open = self._open_file
        for name in CLOCKS:
            setattr(time, name, self._clock(name))
        return self

    def __exit__(self, *_: object) -> None:
        for name, real in REAL.items():
            setattr(os, name, real)
        builtins.open = io.open = sys.modules["_io"].open = REAL_OPEN
        for name, real in REAL_CLOCKS.items():
            setattr(time, name, real)


def _is_there(place: str) -> bool:
    try:
        REAL["lstat"](place)
    except OSError:
        return False
    return True
