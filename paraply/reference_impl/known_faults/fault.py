"""A fault of a real server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFault:
    """Bug numbers, the fault and its mutants.

    ``instead`` names the substitute where no mutant exists.
    """

    known_as: str
    server: str
    what: str
    mutants: tuple[str, ...] = ()
    instead: str = ""
