"""Start the applier under test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraply.adapters.conformance.child import ChildProcess


class CommandLauncher:
    """Starts a command; reuses a process that offers ``reset``.

    Leaving the context kills it with its group.
    """

    def __init__(
        self, command: Sequence[str], *, log: Path | None = None, timeout: float = 10.0
    ) -> None:
        self.command = tuple(command)
        self.log = log
        self.timeout = timeout
        self.started = 0
        self._kept: ChildProcess | None = None

    def start(self) -> ChildProcess:
        """Return the kept or a new process."""
        kept, self._kept = self._kept, None
        if kept is not None:
            return kept
        self.started += 1
        return ChildProcess(self.command, log=self.log, timeout=self.timeout)

    def discard(self, process: ChildProcess, *, can_reset: bool = False) -> None:
        """Keep a resettable process, kill others."""
        if can_reset and self._kept is None:
            self._kept = process
        else:
            process.kill()

    def close(self) -> None:
        """Kill the kept process."""
        if self._kept is not None:
            self._kept.kill()
            self._kept = None

    def __enter__(self) -> CommandLauncher:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
