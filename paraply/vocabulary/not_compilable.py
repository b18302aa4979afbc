"""The compiled engine's refusal."""

from __future__ import annotations

from typing import Any


class NotCompilable(Exception):  # noqa: N818 - it asks for the readable engine
    """Log content, or a change while reading, that requires the readable engine."""


class BeginAgain(NotCompilable):
    """The engine learnt what it must know from the beginning: the same one shall read again.

    ``learnt`` is that.
    """

    def __init__(self, reason: str, learnt: Any) -> None:
        super().__init__(reason, learnt)
        self.learnt = learnt

    def __str__(self) -> str:
        return str(self.args[0])
