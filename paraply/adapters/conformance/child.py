"""An applier as a child process: lines out, lines in, and never longer alive than we are."""

from __future__ import annotations

import ctypes
import os
import queue
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
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
_IDLE_SAMPLE_S = 0.0007
_PR_SET_PDEATHSIG = 1
_EOF = b""


class ApplierDiedError(Exception):
    """The applier's process ended although nobody asked it to."""


class ApplierSilentError(Exception):
    """The applier did not answer in time."""


class ChildProcess:
    """One process that speaks the protocol on its standard input and output.

    Args:
        command: the program and its arguments.
        log: file that its standard error is added to; None keeps only the last lines.
        timeout: seconds to wait for an answer that the protocol promises.
    """

    def __init__(
        self, command: Sequence[str], *, log: Path | None = None, timeout: float = 10.0
    ) -> None:
        self.timeout = timeout
        self.last_lines: deque[str] = deque(maxlen=_STDERR_LINES_KEPT)
        self._log = log
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._is_closing = False
        libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None

        def die_with_parent() -> None:  # pragma: no cover - runs between fork and exec
            if libc is not None and hasattr(libc, "prctl"):
                libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=die_with_parent,
                bufsize=0,
            )
        except OSError as error:
            raise ParaplyError(
                APPLIER_NOT_STARTED, where=str(command[0]), reason=error.strerror or str(error)
            ) from None
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._readers = [
            threading.Thread(target=self._read_output, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """Return the process id, which is that of the process group too."""
        return self._process.pid

    def send(self, message: Message) -> None:
        """Send a message.

        Raises ``ApplierDiedError`` if nobody can read it, ``ApplierSilentError`` if nobody does.
        """
        assert self._process.stdin is not None
        pipe = self._process.stdin.fileno()
        data = memoryview(encode(message))
        while data:
            try:
                data = data[os.write(pipe, data) :]
            except BlockingIOError:
                if not select.select([], [pipe], [], self.timeout)[1]:
                    raise ApplierSilentError(f"read nothing for {self.timeout:g} s") from None
            except OSError:
                raise ApplierDiedError(self._obituary()) from None

    def receive(self, timeout: float | None = None) -> Message:
        """Return the next message.

        Raises ``ApplierSilentError`` after ``timeout`` s, ``ApplierDiedError`` at the end of output
        and ``ProtocolError`` for what is no message.
        """
        seconds = self.timeout if timeout is None else timeout
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise ApplierSilentError(f"no message for {seconds:g} s") from None
        if line == _EOF:
            self._lines.put(_EOF)
            raise ApplierDiedError(self._obituary())
        return decode(line)

    def receive_until_idle(self) -> list[Message]:
        """Return what comes until the process sleeps with nothing left to read.

        For appliers that do not offer ``sync``. On Linux the kernel says whether every thread of
        the process group sleeps; elsewhere silence for some milliseconds must do.
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
        """Kill the process and its group, and wait for it."""
        self._is_closing = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        for reader in self._readers:
            reader.join(timeout=1.0)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _obituary(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=0.5)
        code = self._process.returncode
        if code is not None:
            for reader in self._readers:  # Its last lines may still be in the pipe.
                reader.join(timeout=0.5)
        how = (
            "closed its output"
            if code is None
            else f"was killed by {signal.Signals(-code).name}"
            if code < 0
            else f"ended with exit code {code}"
        )
        return f"the applier {how}"

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):
            pending = b""
            while chunk := os.read(self._process.stdout.fileno(), 1 << 16):
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    if line.strip():
                        self._lines.put(line)
                if len(pending) > LINE_BYTES_MAX:
                    self._lines.put(pending[:LINE_BYTES_MAX])
                    break
                while self._lines.qsize() > _LINES_BEFORE_SETTLED_MAX and not self._is_closing:
                    time.sleep(0.01)  # A flood stays in the pipe: our memory is bounded.
        self._lines.put(_EOF)

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


def _group_sleeps(group: int) -> bool:
    """Return whether every thread of the group's processes sleeps; True where nobody can tell."""
    tasks = Path(f"/proc/{group}/task")
    if not tasks.exists():
        return True
    for pid in (group, *_descendants(group)):
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "SIZTt":
                    return False
    return True


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found
