"""Sentences of all reports."""

from __future__ import annotations

from paraply.models.recorded.monitored import MonitorFinding
from paraply.properties.two_logs.judgement import End
from paraply.reporting.evidence import decidable, decided
from paraply.verifying.result import (
    LEVEL_SENTENCES,
    REQUIREMENTS,
    Metadata,
    RowFinding,
    SnapshotFinding,
    StretchFinding,
    TransactionName,
    VerifyResult,
)
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict


def headline(result: VerifyResult) -> str:
    """Return the verdict sentence."""
    if result.metadata is not None and result.metadata.decides:
        return f"the target's own metadata: {result.metadata.text}"
    if result.decided_by is not None:
        return monitor_text(result.decided_by)
    reached = f"the target reaches {result.level.word}"
    if result.verdict is Verdict.VIOLATED:
        if result.names is not None and not result.names.is_faultless:
            return f"{result.required} is required; {reached}, and {fault_counts(result)}."
        return f"{result.required} is required; {reached}."
    if result.verdict is Verdict.UNKNOWN:
        return f"{result.required} cannot be decided: {result.unknown[0].reason}."
    if result.level < REQUIREMENTS[result.required]:
        return (
            f"{result.required} is required; the target shows states of the source, "
            f"{result.states.snapshot_count:,} of them in snapshot order."
        )
    return f"{result.required} is required, and {reached}."


def monitor_text(found: MonitorFinding) -> str:
    """Return what a monitor says."""
    return f"{found.theorem} {found.verdict.word}: {found.said}"


def metadata_text(metadata: Metadata) -> str:
    """Return what the audit of the target's log says."""
    return f"{metadata.verdict.word}: {metadata.text}"


def level_sentence(result: VerifyResult) -> str:
    """Return the meaning of the level."""
    return f"{result.level.word}: {LEVEL_SENTENCES[result.level]}"


def fault_counts(result: VerifyResult) -> str:
    """Return counts of named faults."""
    names = result.names
    assert names is not None
    parts = [
        counted(number, f"transaction {word}", f"transactions {word}")
        for number, word in (
            (names.missing, "missing"),
            (names.errant_with_rows, "errant"),
            (names.twice, "applied again"),
            (names.changed, "changed"),
        )
        if number
    ]
    return ", ".join(parts)


def states_text(result: VerifyResult) -> str:
    """Return how many commits show source states."""
    states = result.states
    if not states.commits:
        return "the target's log has no commit to judge"
    share = percent(states.prefixes / states.commits)
    time = "" if states.time_share is None else f"; {percent(states.time_share)} of the time"
    # In few words: the screen is narrow.
    compared = decided(result.evidence, at_most=bool(result.unknown))
    return (
        f"{states.prefixes:,} of {counted(states.commits, 'target commit')} show a state of the "
        f"source ({share}{time}); {compared} decidable"
    )


def decidable_text(result: VerifyResult) -> str:
    """Return how many states were compared; what else is unknown may concern all of them."""
    return decidable(result.evidence, at_most=bool(result.unknown))


def snapshots_text(result: VerifyResult) -> str:
    """Return how many states are in snapshot order."""
    count = counted(result.states.snapshot_count, "target commit")
    others = "" if result.states.only_snapshots else "; other states are neither"
    return f"{count} with a snapshot of the source that is no prefix of its log{others}"


def snapshot_text(snapshot: SnapshotFinding) -> str:
    """Return the swapped transactions of one state."""
    return (
        f"after target transaction {snapshot.target.name}: with {_some(snapshot.early)}, "
        f"without {_some(snapshot.missing)}, which the source logged earlier; no common row"
    )


def _some(names: tuple[TransactionName, ...], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(name.name for name in names[:most]) + more


def stretch_text(stretch: StretchFinding) -> str:
    """Return one stretch."""
    end = "" if stretch.healed else ", to the end of the log"
    return (
        f"{counted(stretch.commits, 'commit')}, {stretch.seconds:.1f} s, "
        f"{stretch.first.name} to {stretch.last.name}{end}"
    )


def delivery_text(result: VerifyResult) -> str:
    """Return whether anything appeared twice."""
    delivery = result.delivery
    if delivery.nothing_seen_twice:
        return "nothing seen twice"
    parts = [
        text
        for number, text in (
            (
                delivery.state_went_back,
                f"the state went back {counted(delivery.state_went_back, 'time')}",
            ),
            (
                delivery.key_went_back,
                f"a row went back {counted(delivery.key_went_back, 'time')}",
            ),
            (
                delivery.rewritten,
                f"{counted(delivery.rewritten, 'row')} written with what they held",
            ),
        )
        if number
    ]
    return "at least once: " + ", ".join(parts)


def end_text(result: VerifyResult) -> str:
    """Return the relation of last states."""
    if result.end is End.EQUAL:
        return "the last state is the source's last state"
    if result.end is End.BEHIND:
        name = f", that after {result.end_name.name}" if result.end_name else ""
        return (
            f"the last state is one of the source{name}; "
            f"{counted(result.lag.transactions_last, 'source transaction')} behind"
        )
    rows = counted(result.differing_count, "row differs", "rows differ")
    late = "" if result.is_drained else "; they may be late, since the log ends early"
    return f"the last state is no state of the source: {rows}{late}"


def lag_text(result: VerifyResult) -> str:
    """Return the target's lag."""
    lag = result.lag
    text = f"at most {counted(lag.transactions_max, 'transaction')}"
    if lag.seconds_median is not None and lag.seconds_max is not None:
        text += f"; median {lag.seconds_median:.2f} s, at most {lag.seconds_max:.2f} s"
    return text


def wl4648_text(result: VerifyResult) -> str:
    """Return the WL#4648 consistency levels."""
    states = result.states
    most = percent(states.prefixes / states.commits) if states.commits else "-"
    return (
        f"any-time: {_yes(result.any_time)}; most-of-the-time: {most} of commits; "
        f"eventual: {_yes(result.eventual)}"
    )


def names_text(result: VerifyResult) -> str:
    """Return counts by transaction name."""
    names = result.names
    assert names is not None
    text = f"{names.matched:,} in both logs, {names.missing:,} missing, {names.errant:,} errant"
    text += f", {names.twice:,} applied again, {names.changed:,} changed"
    if names.initial_copy:
        text += f", {names.initial_copy:,} of the initial copy, during which the source had "
        text += counted(names.copied, "transaction")
    if names.filtered:
        text += f", {names.filtered:,} filtered (no rows)"
    return text + (f", {names.lag:,} still to come" if names.lag else "")


def order_text(result: VerifyResult) -> str:
    """Return differences of commit order."""
    names = result.names
    assert names is not None
    if not names.descents:
        return "as at the source"
    return (
        f"{counted(names.descents, 'commit')} directly after a later one "
        f"({names.group_descents:,} within a domain, {names.session_descents:,} "
        f"within a session); {names.to_move:,} to move; "
        f"{counted(names.conflicting_inversions, 'pair')} with a common row inverted"
    )


def batches_text(result: VerifyResult) -> str:
    """Return the count of batching target commits."""
    states = result.states
    return (
        f"{counted(states.batch_count, 'target commit')} with several source transactions, at most "
        f"{states.largest_batch:,}"
    )


def row_text(row: RowFinding) -> str:
    """Return a differing row, both versions."""
    column = f"{row.column}: " if row.column else ""
    text = f"{row.table} ({row.key})"
    if row.source_value != row.target_value:
        text += f"  {column}source {row.source_value}"
        text += f" by {row.source.name}" if row.source else ""
        text += f", target {row.target_value}"
        text += f" by {row.target.name}" if row.target else ""
    return text + (f"; {row.why}" if row.why else "")


def error_text(result: VerifyResult) -> str:
    """Return the probability of a fingerprint collision."""
    return (
        f"states are compared by keyed 128-bit fingerprints: two different states pass as equal "
        f"with probability at most {result.error_bound:.0e}"
    )


def percent(share: float) -> str:
    """Return a share; only 1.0 prints as 100 %."""
    if share >= 1:
        return "100 %"
    return f"{min(99.9, int(share * 1000) / 10):.1f} %"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
