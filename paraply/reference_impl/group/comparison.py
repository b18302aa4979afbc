"""A comparison between a recorded run and the reference."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from paraply.vocabulary.group_trace import MemberUuid


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One member's difference from the reference."""

    member: MemberUuid
    step: int
    """Place in ``GroupTrace.steps``."""
    what: str
    """``verdict``, ``gtid``, ``timestamp`` or ``certification info``."""
    expected: str
    recorded: str

    def __str__(self) -> str:
        return (
            f"step {self.step}, member {self.member[:8]}: {self.what} is {self.recorded},"
            f" the reference says {self.expected}"
        )


@dataclass(slots=True, kw_only=True)
class Comparison:
    """Counts; ``differences`` may be truncated."""

    remote_transactions: int = 0
    local_transactions: int = 0
    refusals: int = 0
    collections: int = 0
    """Windows of visible periodic collections."""
    collections_on_join: int = 0
    donated_items: int = 0
    views: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        """Add another member's result."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


DIFFERENCES_MAX = 20
