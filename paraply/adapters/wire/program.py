"""The program under test: started with addresses in its command, killed with its group."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from paraply.adapters.conformance.child import APPLIER_NOT_STARTED
from paraply.adapters.servers.process import ServerProcess
from paraply.vocabulary.errors import ParaplyError


class Program:
    """Starts a command in which ``{name}`` stands for an address.

    Both outputs go to ``log``.
    """

    def __init__(self, command: Sequence[str], addresses: Mapping[str, str], log: Path) -> None:
        self.command = [_filled(word, addresses) for word in command]
        self.log = log
        self.starts = 0
        self._process: ServerProcess | None = None

    def start(self) -> None:
        """Start it; ``ParaplyError`` P630 if impossible."""
        self.starts += 1
        try:
            self._process = ServerProcess(self.command, self.log)
        except OSError as error:
            raise ParaplyError(
                APPLIER_NOT_STARTED, where=self.command[0], reason=error.strerror or str(error)
            ) from None

    @property
    def pid(self) -> int:
        """Return the id of process and group."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether the started process exists."""
        return self._process is not None and self._process.is_running

    @property
    def exit_code(self) -> int | None:
        """Return the exit code; None while it runs."""
        return None if self._process is None else self._process.exit_code

    def kill(self) -> None:
        """Kill the group (SIGKILL)."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()

    def output(self) -> str:
        """Return all that it has written."""
        with suppress(OSError):
            return self.log.read_text(errors="replace")
        return ""

    def last_lines(self, count: int = 10) -> tuple[str, ...]:
        """Return the last lines of its output."""
        return tuple(self.output().splitlines()[-count:])


def _filled(word: str, addresses: Mapping[str, str]) -> str:
    for name, value in addresses.items():
        word = word.replace("{" + name + "}", value)
    return word
