"""Which replication domains touch what a table is, and rows that no key names.

A GTID replica applies domains side by side in no order, however far apart the log has them. So no
horizon applies: per name the two smallest domains tell whether there is another one, and the parts
of a log sum up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum


class How(IntEnum):
    """How transactions meet at a name other than by keys."""

    REDEFINES = 0
    USES = 1
    BLURRED = 2
    """May touch more rows than it names."""


CONFLICTS = (
    (How.REDEFINES, How.REDEFINES),
    (How.REDEFINES, How.USES),
    (How.BLURRED, How.USES),
)
_NONE: tuple[int, ...] = ()
Domains = tuple[tuple[int, ...], ...]
"""The two smallest domains, by :class:`How`."""


@dataclass(slots=True)
class DomainsOfTables:
    """Domains by lower-case table, schema (``name.*``) or aspect, and how they touch it."""

    names: dict[str, Domains] = field(default_factory=dict)

    def note(self, domain: int, how: How, names: Iterable[str]) -> None:
        """Note that a transaction of ``domain`` touches ``names``."""
        for name in names:
            known = self.names.get(name, (_NONE,) * len(How))
            if domain not in known[how]:
                smallest = tuple(sorted((*known[how], domain))[:2])
                if smallest != known[how]:
                    self.names[name] = (*known[:how], smallest, *known[how + 1 :])

    def add(self, other: DomainsOfTables) -> None:
        """Add another part of the log."""
        for name, every in other.names.items():
            for how in How:
                for domain in every[how]:
                    self.note(domain, how, (name,))

    def crossed(self) -> list[str]:
        """Return the names at which transactions of two domains conflict."""
        return sorted(
            name
            for name, every in self.names.items()
            if any(
                every[first] and every[second] and len({*every[first], *every[second]}) > 1
                for first, second in CONFLICTS
            )
        )
