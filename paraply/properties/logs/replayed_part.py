"""The replay's findings of one part, and a replay-only judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replay_state import Resets
from paraply.properties.logs.row_replay import RowReplay
from paraply.vocabulary.audit_result import ReplayFinding, TransactionRef
from paraply.vocabulary.log import LoggedTransaction

_COUNTS = (
    "before_images_found", "before_images_missing", "before_images_unknown", "duplicate_keys",
    "rows_without_key", "rows_forgotten", "rows_in_doubt", "findings_dropped",
)  # fmt: skip
_COUNTED_BESIDE = ("_rows_checked", "_blind")
_NAMES = ("_keyless", "_unknown_tables", "_undecoded", "_cascaded", "_unexplained")


@dataclass(slots=True, kw_only=True)
class ReplayedPart:
    """One part's findings; ordinals count from its approach."""

    counts: Counter[str] = field(default_factory=Counter)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tables by kind of remark."""
    findings: list[ReplayFinding] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    """Added since any reset, by table."""
    resets: Resets = field(default_factory=Resets)
    end: bytes = b""
    """Fingerprint of the state after the part."""

    def moved(self, by: int) -> list[ReplayFinding]:
        """Return findings with shifted ordinals."""

        def move(ref: TransactionRef) -> TransactionRef:
            return replace(ref, ordinal=ref.ordinal + by)

        return [replace(each, transaction=move(each.transaction)) for each in self.findings]


def take_replayed(replay: RowReplay) -> ReplayedPart:
    """Return findings since the border."""
    result = replay.result()
    counts = Counter({name: getattr(result, name) for name in _COUNTS})
    counts |= Counter({name: getattr(replay, name) for name in _COUNTED_BESIDE})
    return ReplayedPart(
        counts=counts,
        names={name: tuple(getattr(replay, name)) for name in _NAMES},
        findings=list(result.findings),
        rows={table.name: table.rows for table in replay._state.tables()},
        resets=replay._state.resets or Resets(),
    )


def end_replayed(replay: RowReplay, ordinal: int) -> tuple[ReplayedPart, ReplayBorder[Any]]:
    """Return findings since the border, and give up the state after transaction ``ordinal``."""
    part = take_replayed(replay)
    border = replay.end_at(ordinal)
    part.end = border.fingerprint()
    return part, border


def add_replayed(replay: RowReplay, parts: Iterable[tuple[ReplayedPart, int]]) -> None:
    """Add consecutive parts with their ordinal shifts."""
    result = replay._result
    left: dict[str, tuple[str, int]] = {}
    for part, shift in parts:
        for name in _COUNTS:
            setattr(result, name, getattr(result, name) + part.counts[name])
        for name in _COUNTED_BESIDE:
            setattr(replay, name, getattr(replay, name) + part.counts[name])
        for name, tables in part.names.items():
            getattr(replay, name).update(dict.fromkeys(tables))
        room = replay._findings_max - len(result.findings)
        result.findings += part.moved(shift)[:room]
        result.findings_dropped += max(0, len(part.findings) - room)
        for name in [name for name in left if part.resets.cover(name)]:
            del left[name]
        for name, rows in part.rows.items():
            left[name.lower()] = name, left.get(name.lower(), ("", 0))[1] + rows
    replay._state.forgotten = result.rows_forgotten
    for name, rows in left.values():
        replay._state.table(name).rows = rows


class RowFollower:
    """Replays an auditor's transactions without other judges."""

    def __init__(self, replay: RowReplay) -> None:
        self.replay = replay
        self.transactions = 0

    def begin_at(self, border: ReplayBorder[Any]) -> None:
        """Continue from the state before the part."""
        self.replay.begin_at(border, 0)

    def end(self, transactions_before: int) -> tuple[ReplayedPart, ReplayBorder[Any]]:
        """Return the part's findings, and give up the state after it.

        Ordinals count from ``transactions_before`` the part.
        """
        part, border = end_replayed(self.replay, self.transactions)
        part.findings = part.moved(transactions_before)
        return part, border

    def lose_rows(self) -> None:
        """Forget the rows, which what was not read may have changed."""
        self.replay.lose_all()

    def observe(self, txn: LoggedTransaction) -> None:
        """Replay the next transaction."""
        self.transactions += 1
        if txn.complete:
            self.replay.observe(txn)
