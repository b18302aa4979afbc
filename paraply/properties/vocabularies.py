"""What a history records, by its content alone.

A property applies to every history with its vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable

from paraply.properties.apply.stream import apply_streams
from paraply.properties.gtid.histories import (
    POSITION_ITEM,
    domain_of,
    executed_set,
    has_domains,
    sequence_of,
)
from paraply.properties.registry import Exemption, Vocabulary
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionKind

COMMIT_STAGES = frozenset(
    {
        EventKind.PREPARED,
        EventKind.SYNCED,
        EventKind.ACKNOWLEDGED,
        EventKind.WAIT_ABANDONED,
        EventKind.CLIENT_ACKNOWLEDGED,
    }
)
"""Stages after the binary log write."""
ALLOW_PARALLEL, TRANSACTIONAL, WAITED = "allow_parallel", "transactional", "waited"
"""Flags of a MariaDB GTID event."""


def recorded(*kinds: EventKind) -> Vocabulary:
    """Return the vocabulary of histories with all these events."""
    needed = frozenset(kinds)
    return lambda history: needed <= history.kinds


def certification(history: History) -> bool:
    """Members certify transactions."""
    return EventKind.CERTIFIED in history.kinds


def members_write(history: History) -> bool:
    """A member commits transactions of its own clients."""
    origins = {one.id: one.origin for one in history.transactions if one.origin}
    return bool(origins) and any(
        origins.get(event.transaction) == event.member
        for event in history.events_of(EventKind.ENGINE_COMMITTED, EventKind.FLUSHED)
        if event.transaction is not None
    )


def relay_log(history: History) -> bool:
    """Replicas apply the listed transactions in order, and write nothing."""
    return (
        not certification(history) and bool(apply_streams(history)) and not members_write(history)
    )


def applied(history: History) -> bool:
    """An applier is at work on a member."""
    return bool(apply_streams(history))


def started_appliers(history: History) -> bool:
    """Appliers record starts and stops."""
    return bool({EventKind.STARTED, EventKind.STOPPED} & history.kinds) and applied(history)


def crash_of_a_replica(history: History) -> bool:
    """A replica that applies a log crashes."""
    return EventKind.CRASHED in history.kinds and relay_log(history)


def reads_of_replicas(history: History) -> bool:
    """Readers take snapshots at replicas."""
    return relay_log(history) and any(event.observed for event in history.events_of(EventKind.READ))


def failure_of_a_replica(history: History) -> bool:
    """An applying replica rejects a transaction."""
    return EventKind.FAILED in history.kinds and relay_log(history)


def failure_in_a_domain(history: History) -> bool:
    """An applying replica rejects a transaction of a replication domain."""
    return failure_of_a_replica(history) and has_domains(history)


def saved_sets(history: History) -> bool:
    """Appliers save positions as sets of transactions."""
    return applied(history) and any(
        event.transactions for event in history.events_of(EventKind.POSITION_SAVED)
    )


def stated_worker_limit(history: History) -> bool:
    """Replicas limit the workers of a domain."""
    return logged_domains(history) and bool(history.header.options.get("domain_workers"))


def certified_definitions(history: History) -> bool:
    """Members certify changes of table definitions."""
    return certification(history) and any(
        one.kind is TransactionKind.DDL and one.statement for one in history.transactions
    )


def logged_numbers(history: History) -> bool:
    """Replicas apply a log with last_committed and sequence_number."""
    return relay_log(history) and any(one.timestamp is not None for one in history.transactions)


def logged_sessions(history: History) -> bool:
    """Replicas apply a log that names client sessions."""
    return relay_log(history) and any(one.session for one in history.transactions)


def logged_domains(history: History) -> bool:
    """Replicas apply a log with replication domains."""
    return relay_log(history) and has_domains(history)


def views_with_members(history: History) -> bool:
    """Members install views that name their members."""
    return any(event.members for event in history.events_of(EventKind.VIEW_INSTALLED))


def several_views(history: History) -> bool:
    """A member installs several views."""
    views = [event.member for event in history.events_of(EventKind.VIEW_INSTALLED)]
    return len(views) > len(set(views))


def given_numbers(history: History) -> bool:
    """Members give transactions a last_committed and a sequence_number."""
    return any(event.timestamp is not None for event in history.events)


def numbering_sources(history: History) -> bool:
    """Sources of a controlled run number what they log."""
    return history.header.tier is EvidenceTier.CONTROLLED_RUN and any(
        event.timestamp is not None for event in history.events_of(EventKind.FLUSHED)
    )


def given_numbers_in_sessions(history: History) -> bool:
    """A source numbers transactions of named sessions."""
    return given_numbers(history) and any(one.session for one in history.transactions)


def galera_write_sets(history: History) -> bool:
    """Transactions are write sets with depends_seqno and last_seen_seqno."""
    return any(
        one.timestamp is not None and one.snapshot_version is not None
        for one in history.transactions
    )


def numbered_logs(history: History) -> bool:
    """Servers log MariaDB GTIDs."""
    return has_domains(history) and any(
        event.gtid for event in history.events_of(EventKind.FLUSHED)
    )


def listed_files(history: History) -> bool:
    """Servers of a controlled run log MariaDB GTIDs, and begin files of their logs."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and EventKind.RELAY_ROTATED in history.kinds and numbered_logs(history)


def numbered_logs_of_sources(history: History) -> bool:
    """Servers log MariaDB GTIDs, some for own clients."""
    return numbered_logs(history) and members_write(history)


def followed_sources(history: History) -> bool:
    """Replicas of a controlled run name their source where they start."""
    return history.header.tier is EvidenceTier.CONTROLLED_RUN and any(
        event.members for event in history.events_of(EventKind.STARTED)
    )


def named_sources(history: History) -> bool:
    """Replicas with MariaDB GTIDs name their source."""
    return has_domains(history) and any(
        event.members for event in history.events_of(EventKind.STARTED)
    )


def stated_positions(history: History) -> bool:
    """Servers state GTID positions where they start."""
    return any(event.gtid_set for event in history.events_of(EventKind.STARTED))


def states_of_writers(history: History) -> bool:
    """Writing servers state their replication state."""
    return members_write(history) and any(
        event.gtid_set for event in history.events_of(EventKind.STARTED, EventKind.STOPPED)
    )


def executed_sets(history: History) -> bool:
    """Servers state MySQL's executed GTID sets."""
    kinds = (EventKind.STOPPED, EventKind.RECOVERED, EventKind.STARTED, EventKind.POSITION_SAVED)
    return any(executed_set(event.gtid_set) for event in history.events_of(*kinds))


def logged_executed_sets(history: History) -> bool:
    """Servers of a controlled run state MySQL's executed GTID sets, and log GTIDs of these."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    logged = (executed_set(event.gtid) for event in history.events_of(EventKind.FLUSHED))
    return is_exact and executed_sets(history) and any(logged)


def named_sources_at_rest(history: History) -> bool:
    """Replicas name their source where they stop."""
    return any(event.members for event in history.events_of(EventKind.STOPPED))


def position_rows(history: History) -> bool:
    """Transactions write their position into a table."""
    return any(
        str(item).startswith(POSITION_ITEM)
        for event in history.events_of(EventKind.ROW_APPLIED)
        for item in event.items
    )


def numbered_rows(history: History) -> bool:
    """Row changes name the row of their transaction."""
    return any(event.row is not None for event in history.events_of(EventKind.ROW_APPLIED))


def specified_gtids(history: History) -> bool:
    """Transactions come to certification with a GTID."""
    return certification(history) and any(one.gtid for one in history.transactions)


def keyed_rows(history: History) -> bool:
    """Tables, row changes and write sets are known."""
    return bool(history.header.schema) and any(
        one.rows and one.write_set for one in history.transactions
    )


def hashed_items(history: History) -> bool:
    """Write sets are a server's hashes of known row changes."""
    return keyed_rows(history) and all(
        isinstance(item, int) for one in history.transactions for item in one.write_set
    )


def prefix_keys(history: History) -> bool:
    """Write sets are a server's hashes of rows of tables with keys of prefixes."""
    return hashed_items(history) and any(
        part.prefix_length
        for table in history.header.schema
        for key in table.unique_keys
        for part in key.parts
    )


def session_writes(history: History) -> bool:
    """Named sessions submit transactions and receive confirmations."""
    needed = {EventKind.SUBMITTED, EventKind.CLIENT_ACKNOWLEDGED}
    return needed <= history.kinds and any(one.session for one in history.transactions)


def client_reads(history: History) -> bool:
    """Client sessions that write also read."""
    clients = {one.session for one in history.transactions if one.session}
    return any(event.session in clients for event in history.events_of(EventKind.READ))


def client_reads_and_writes(history: History) -> bool:
    """Sessions read, and receive confirmations."""
    return EventKind.CLIENT_ACKNOWLEDGED in history.kinds and client_reads(history)


def timed_stages(history: History) -> bool:
    """A source records commit stages with known delays."""
    return "round_trip_us" in history.header.options


def replicas_only(history: History) -> bool:
    """Every member applies another server's log."""
    return not certification(history) and not members_write(history)


def positions_of_replicas(history: History) -> bool:
    """Replicas state their GTID positions."""
    kinds = (EventKind.STOPPED, EventKind.RECOVERED, EventKind.READ)
    return replicas_only(history) and any(event.gtid_set for event in history.events_of(*kinds))


def parallel_flags(history: History) -> bool:
    """Replicas apply MariaDB's log with flags and group ids."""
    flags = {ALLOW_PARALLEL, TRANSACTIONAL, WAITED}
    return relay_log(history) and any(
        one.commit_id is not None or flags & one.flags for one in history.transactions
    )


def commit_stages(history: History) -> bool:
    """The first member, a source that applies nothing, records its commit stages."""
    kinds = _kinds_at_the_source(history)
    return EventKind.FLUSHED in kinds and bool(COMMIT_STAGES & kinds)


def prepared_commits(history: History) -> bool:
    """The first member, a source that applies nothing, prepares transactions or logs them."""
    return EventKind.PREPARED in _kinds_at_the_source(history) or commit_stages(history)


def _kinds_at_the_source(run: History) -> frozenset[EventKind]:
    """Return the kinds of the first member's events, none if it applies a log."""
    source = run.members[0] if run.members else ""
    kinds = frozenset(event.kind for event in run.events if event.member == source)
    applies = kinds & {EventKind.BEGUN, EventKind.SCHEDULED, EventKind.CERTIFIED}
    return frozenset() if applies else kinds


def several_domains(history: History) -> bool:
    """The log has several replication domains."""
    return len({one.domain for one in history.transactions if one.domain is not None}) > 1


BETWEEN_DOMAINS = Exemption(
    applies=several_domains,
    because="between replication domains the order is free; domains_commit_in_order, "
    "domains_apply_without_conflict and domains_are_read_in_order judge each domain",
)


def _falls(numbers: Iterable[tuple[object, int]]) -> bool:
    """Return whether a number is not above the one before with its key."""
    last: dict[object, int] = {}
    for key, number in numbers:
        if number <= last.get(key, 0):
            return True
        last[key] = number
    return False


def replicated_log_goes_back(history: History) -> bool:
    """Replicas apply a log in which a domain's numbers fall."""
    return replicas_only(history) and _falls(
        (one.domain, sequence_of(one.gtid))
        for one in history.transactions
        if one.domain is not None
    )


LOG_GOES_BACK = Exemption(
    applies=replicated_log_goes_back,
    because="without strict mode a replica logs the numbers that its source's log has",
)


def log_goes_back(history: History) -> bool:
    """A server logs a number that is not above the last of its domain."""
    return _falls(
        ((event.member, domain_of(event.gtid)), sequence_of(event.gtid))
        for event in history.events_of(EventKind.FLUSHED)
        if domain_of(event.gtid) is not None
    )


LISTS_GO_BACK = Exemption(
    applies=log_goes_back, because="a GTID list does not order numbers that fall"
)


def controlled_workload(history: History) -> bool:
    """A controlled run states how many transactions its clients have."""
    header = history.header
    return (
        header.tier is EvidenceTier.CONTROLLED_RUN
        and type(header.options.get("transactions")) is int
        and not header.recorded_by.startswith("paraply conform")
    )


def attempts_of_workers(history: History) -> bool:
    """A controlled run records commits of numbered workers."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and not history.header.recorded_by.startswith("paraply conform")
        and any(event.worker is not None for event in history.events_of(EventKind.ENGINE_COMMITTED))
    )


def synced_logs(history: History) -> bool:
    """A controlled server records that its log is written and synced."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and {EventKind.FLUSHED, EventKind.SYNCED} <= history.kinds
    )
