"""What comes of holding a recorded run against the reference."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from paraply.vocabulary.group_trace import MemberUuid


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where the reference and a member of the group differ."""

    member: MemberUuid
    step: int
    """Place in ``GroupTrace.steps``."""
    what: str
    """``verdict``, ``gtid``, ``timestamp`` or ``certification info``."""
    expected: str
    """What the reference says."""
    recorded: str

    def __str__(self) -> str:
        return (
            f"step {self.step}, member {self.member[:8]}: {self.what} is {self.recorded},"
            f" the reference says {self.expected}"
        )


@dataclass(slots=True, kw_only=True)
class Comparison:
    """What was compared, and what came of it. ``differences`` may be cut off."""

    remote_transactions: int = 0
    local_transactions: int = 0
    refusals: int = 0
    collections: int = 0
    """Windows that a periodic collection opened and the record shows."""
    collections_on_join: int = 0
    donated_items: int = 0
    views: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        """Add what was found at another member."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


DIFFERENCES_MAX = 20
