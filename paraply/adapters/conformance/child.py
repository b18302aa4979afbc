"""An applier as a child process, killed with its descendants."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from paraply.adapters.conformance.protocol import (
    LINE_BYTES_MAX,
    Message,
    ProtocolError,
    decode,
    encode,
)
from paraply.vocabulary.errors import ParaplyError, register

APPLIER_NOT_STARTED = register(
    "P630",
    "the applier's command cannot be started: {reason}",
    "give the command after --, as you would start it in this folder",
)

_STDERR_LINES_KEPT = 40
_LINES_BEFORE_SETTLED_MAX = 100_000
_IDLE_SAMPLES = 3
_LAST_WORDS_S = 0.5
_IDLE_SAMPLE_S = 0.0007
_READ_BYTES = 1 << 18
_UNSENT_BYTES_MAX = 1 << 16
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MARK = "PARAPLY_APPLIER"
"""Descendants inherit it; it identifies adopted orphans."""
_marks = count(1)


class ApplierDiedError(Exception):
    """The applier's process ended early."""


class ApplierSilentError(Exception):
    """The applier did not answer."""


class ChildProcess:
    """A process that speaks the protocol on standard input and output.

    Args:
        log: receives standard error; None keeps the last lines.
        timeout: seconds to wait for a required answer.
    """

    def __init__(
        self, command: Sequence[str], *, log: Path | None = None, timeout: float = 10.0
    ) -> None:
        self.timeout = timeout
        self.last_lines: deque[str] = deque(maxlen=_STDERR_LINES_KEPT)
        self.has_spoken = False
        self._log = log
        self._lines: deque[bytes] = deque()
        self._partial = b""
        self._has_ended = False
        self._unsent = bytearray()
        self._mark = f"{os.getpid()}-{next(_marks)}"
        libc = _libc()
        if libc is not None:
            libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

        def die_with_parent() -> None:  # pragma: no cover - runs between fork and exec
            if libc is not None:
                libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, _MARK: self._mark},
                start_new_session=True,
                preexec_fn=die_with_parent,
                bufsize=0,
            )
        except OSError as error:
            raise ParaplyError(
                APPLIER_NOT_STARTED, where=str(command[0]), reason=error.strerror or str(error)
            ) from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        self._error_reader = threading.Thread(target=self._read_errors, daemon=True)
        self._error_reader.start()

    @property
    def pid(self) -> int:
        """Return the id of process and group."""
        return self._process.pid

    def send(self, message: Message) -> None:
        """Queue a message until the next ``receive`` at the latest.

        Raises ``ApplierDiedError`` or ``ApplierSilentError``.
        """
        self._unsent += encode(message)
        if len(self._unsent) > _UNSENT_BYTES_MAX:
            self._flush()

    def receive(self, timeout: float | None = None) -> Message:
        """Return the next message.

        Raises ``ApplierSilentError`` after ``timeout`` s, ``ApplierDiedError`` at the end of output
        and ``ProtocolError``.
        """
        self._flush()
        seconds = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        while not self._lines:
            if len(self._partial) > LINE_BYTES_MAX:
                raise ProtocolError(f"a line is longer than {LINE_BYTES_MAX:,} bytes")
            if self._has_ended:
                raise ApplierDiedError(self._obituary())
            if not self._read_output(max(0.0, deadline - time.monotonic())):
                raise ApplierSilentError(f"no message for {seconds:g} s")
        self.has_spoken = True
        return decode(self._lines.popleft())

    def receive_until_idle(self) -> list[Message]:
        """Return all messages until the process sleeps with empty output.

        For appliers without ``sync``. Linux reports sleep; elsewhere some milliseconds of silence
        count.
        """
        found: list[Message] = []
        calm = 0
        deadline = time.monotonic() + self.timeout
        while calm < _IDLE_SAMPLES:
            try:
                found.append(self.receive(_IDLE_SAMPLE_S))
                calm = 0
            except ApplierSilentError:
                calm = calm + 1 if _group_sleeps(self.pid) else 0
            if len(found) > _LINES_BEFORE_SETTLED_MAX:
                raise ProtocolError(f"more than {_LINES_BEFORE_SETTLED_MAX:,} messages at once")
            if time.monotonic() > deadline:
                break
        return found

    def kill(self) -> None:
        """Kill the process, its group and orphans."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        _reap_orphans(self._mark)
        self._error_reader.join(timeout=1.0)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _flush(self) -> None:
        """Reads while it writes, to avoid a mutual wait."""
        while self._unsent:
            try:
                del self._unsent[: os.write(self._input, self._unsent)]
            except BlockingIOError:
                self._wait_to_write()
            except OSError:
                self._unsent.clear()
                if self._lines or (self._read_output(_LAST_WORDS_S) and self._lines):
                    return  # What it said before it closed its input is heard first.
                raise ApplierDiedError(self._obituary()) from None

    def _wait_to_write(self) -> None:
        may_read = not self._has_ended and len(self._lines) < _LINES_BEFORE_SETTLED_MAX
        outputs = [self._output] if may_read else []
        readable, writable, _ = select.select(outputs, [self._input], [], self.timeout)
        if readable:
            self._read_output(0.0)
        elif not writable:
            self._unsent.clear()
            raise ApplierSilentError(f"read nothing for {self.timeout:g} s")

    def _obituary(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=0.5)
        code = self._process.returncode
        if code is not None:  # Its last lines may still be in the pipe.
            self._error_reader.join(timeout=0.5)
        how = (
            "closed its output"
            if code is None
            else f"was killed by {signal.Signals(-code).name}"
            if code < 0
            else f"ended with exit code {code}"
        )
        return f"the applier {how}"

    def _read_output(self, seconds: float) -> bool:
        if not select.select([self._output], [], [], seconds)[0]:
            return False
        chunk = os.read(self._output, _READ_BYTES)
        self._has_ended = not chunk
        *lines, self._partial = (self._partial + chunk).split(b"\n")
        self._lines.extend(line for line in lines if line.strip())
        return True

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with suppress(OSError, ValueError):
            output = self._log.open("ab") if self._log is not None else None
            try:
                while chunk := self._process.stderr.readline(1 << 14):
                    self.last_lines.append(chunk.decode(errors="replace").rstrip("\n")[:500])
                    if output is not None:
                        output.write(chunk)
                        output.flush()
            finally:
                if output is not None:
                    output.close()


def _libc() -> ctypes.CDLL | None:
    libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    return libc if libc is not None and hasattr(libc, "prctl") else None


def _reap_orphans(mark: str) -> None:
    wanted = f"{_MARK}={mark}".encode()
    while orphans := [pid for pid in _children(os.getpid()) if wanted in _environment(pid)]:
        for pid in orphans:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _environment(pid: int) -> list[bytes]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return []


def _group_sleeps(group: int) -> bool:
    tasks = Path(f"/proc/{group}/task")
    if not tasks.exists():
        return True
    for pid in (group, *descendants(group)):
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "SIZTt":
                    return False
    return True


def descendants(pid: int) -> Iterator[int]:
    """Yield the ids of child processes, and of theirs."""
    for child in _children(pid):
        yield child
        yield from descendants(child)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found
