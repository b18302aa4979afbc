"""One fault of a real server, as bug reports, release notes and measurements tell it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFault:
    """One entry: its bug numbers, what went wrong, and the mutants that do the same.

    ``instead`` says what stands for it where no mutant does.
    """

    known_as: str
    server: str
    what: str
    mutants: tuple[str, ...] = ()
    instead: str = ""
