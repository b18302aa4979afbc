"""A child process that never outlives its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

from paraply.adapters.servers.network import Namespace

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class ServerProcess:
    """One server process with its output in ``log``.

    The kernel kills it with its starting thread (prctl PR_SET_PDEATHSIG), which must therefore live
    long enough. Its own session leaves Ctrl-C to the parent.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        run_as: str | None = None,
        temporary: Path | None = None,
        namespace: Namespace | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.log = log
        parent = os.getpid()

        def die_with_parent() -> None:  # pragma: no cover - runs between fork and exec
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # The parent died before the line above.
                os._exit(1)

        where = nullcontext() if namespace is None else namespace.entered()
        with log.open("ab") as output, where:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
                # A server's programs (state transfers) may write there under any account.
                env={
                    **os.environ,
                    **({} if temporary is None else {"TMPDIR": str(temporary)}),
                    **(environment or {}),
                },
                user=run_as,
                group=run_as,
                extra_groups=() if run_as else None,
            )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether it exists, even if stopped."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to a living process."""
        if self.is_running:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    def stop(self, seconds_max: float) -> None:
        """Send SIGTERM, and kill after ``seconds_max``."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self._process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill at once (SIGKILL)."""
        self.signal(signal.SIGKILL)
        self._process.wait()

    def last_lines(self, count: int = 3) -> str:
        """Return the log's last error lines."""
        with self.log.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - 8192))
            lines = log.read().decode(errors="replace").splitlines()
        errors = [line for line in lines if "ERROR" in line]
        return " / ".join((errors or lines)[-count:])
