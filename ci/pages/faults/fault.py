"""A fault of a real server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFault:
    """Bug numbers, fault and mutants; ``instead`` names a substitute."""

    known_as: str
    server: str
    what: str
    mutants: tuple[str, ...] = ()
    instead: str = ""
