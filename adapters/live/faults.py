"""What is done to servers under load, and what is observed of it at that moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.live.mariadb import MariadbLab
    from adapters.live.observed import Member
    from adapters.live.workload import Clients

Inject = Callable[["MariadbLab", "Clients", Sequence["Member"], int], Sequence[str] | None]
"""Does it, while the clients run, and returns notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that can be done to the servers of a round."""

    name: str
    meaning: str
    inject: Inject
    is_crash: bool = False
    """Whether a replica is killed: what is not in a transactional table may be lost."""
    replica_options: tuple[str, ...] = ()


FAULTS: dict[str, Fault] = {}
