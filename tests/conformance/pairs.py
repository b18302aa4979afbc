"""The table: subjects of the reference, systems written apart, and how a run is read as theirs.

What a run does not show (which mutex is held, where a crashed replica begins again) is tried: a
refusal means that nothing fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from paraply.models.claims.group.theorems import IN_ANY_ORDER
from paraply.models.claims.theorems import AFTER_COMMIT, ROWS_END_TO_END
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.system import System
from paraply.models.recorded import (
    by_gtid,
    mariadb,
    members,
    quorums,
    replicas,
    returning_groups,
    sources,
    unordered_groups,
    waiting_groups,
    whole_groups,
    whole_members,
)
from paraply.models.recorded.following import Recorded, RecordedStep, follow
from paraply.models.systems import (
    acknowledged_group,
    auto_position,
    batches,
    commit_order,
    crash_points,
    end_to_end,
    group,
    lock_queue,
    low_water_mark,
    parallel_group,
    quorum,
    restart,
    returning_group,
    rotation,
    semi_sync,
    trackers,
)
from paraply.models.systems import applier as al1
from paraply.models.systems import certification as certifier
from paraply.models.systems import members as two
from paraply.properties.registry import Expectation
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.subjects import APPLIER  # noqa: F401 - registers the subjects
from paraply.vocabulary.history import History


@dataclass(frozen=True, slots=True)
class Pair:
    """A system, how runs are read as its steps, and which runs.

    ``steps`` is how many of them are followed for every change: together more than 100,000, most of
    them where a step is cheap.
    """

    system: System
    reading: Callable[[History], Recorded]
    subject: str
    workload: Workload
    steps: int


class Follower:
    """Judges histories as a property does: each is a run of the specification, or is refused."""

    expectation = Expectation.ALWAYS

    def __init__(self, pair: Pair) -> None:
        self.name = f"a run of {pair.system.name}"
        self.pair = pair
        self.compiled = CompiledReading(pair.system)
        self.steps = 0
        self.actions: set[str] = set()
        self.hidden: frozenset[str] = frozenset()

    def violations(self, history: History) -> tuple[RecordedStep, ...]:
        """Follow a history; return the step that is refused, if one is."""
        recorded = self.pair.reading(history)
        followed = follow(self.compiled, recorded)
        self.steps += followed.steps
        self.actions |= {action for step in recorded.steps for action in step.actions}
        self.hidden = recorded.hidden
        return () if followed.refused is None else (followed.refused,)

    def witness(self, history: History) -> bool:
        """Return whether there was anything to follow."""
        return bool(history.events)

    @property
    def unseen(self) -> set[str]:
        """Return the actions that could have been observed and were not."""
        return {action.name for action in self.pair.system.actions} - self.hidden - self.actions


UNORDERED = "logical_clock_unordered"
ONE_FILE = {"rotations": 0, "collections": 0}
STAYS = {"joins": 0, "departures": 0}
ONE_JOINS = {"joins": 1, "departures": 0, "absent": 1, "barriers": False}
"""A donor's own transaction may commit ahead of a barrier that was certified before it, and a
joiner copies it so; in the specification what came before a view is applied like a relay log."""
RETURNS = {"joins": 2, "departures": 2, "broadcasts": 1}
ASKED = {"abandons": 0, "source_returns": False, "replica_crashes": 1}
FEW_REMAIN = acknowledged_group.Rules(name="acknowledged_group[few remain]", waits_for_few=False)
"""The reference's members do not wait for those that have left."""
STANDS = {"abandons": 0, "loses_source": False}

PAIRS = {
    "commit order": Pair(
        commit_order.commit_order(), replicas.commit_order, "applier",
        Workload(transactions=4, rows=3, options={"workers": 3}), 10_000,
    ),
    "locks one by one": Pair(
        lock_queue.lock_queue(lock_queue.Rules(name="lock_queue[exact]", locks_are_writes=True)),
        replicas.lock_queue, "applier",
        Workload(transactions=4, rows=3, options={"workers": 3}), 3_000,
    ),
    "restart": Pair(
        restart.restart(), replicas.restart, "applier",
        Workload(transactions=4, rows=3, dialect=UNORDERED, options={"workers": 3, "crashes": 2}),
        10_000,
    ),
    "low-water mark": Pair(
        low_water_mark.low_water_mark(), replicas.low_water_mark, "applier",
        Workload(transactions=5, rows=3, dialect=UNORDERED, options={"workers": 3}), 5_000,
    ),
    "log and starts": Pair(
        al1.parallel_applier(), replicas.log_and_starts, "applier",
        Workload(transactions=4, rows=3, dialect=UNORDERED,
                 options={"workers": 3, "view_changes": 1, **ONE_FILE}), 2_000,
    ),
    "bounds on a replica": Pair(
        trackers.tracker(
            trackers.Rules(name="galera_depends_seqno", lowers_to_commit_order=False)
        ),
        replicas.bounds_on_replica, "applier",
        Workload(transactions=4, rows=3, dialect=UNORDERED,
                 options={"workers": 3, "barriers": False, **ONE_FILE}), 5_000,
    ),
    "writeset": Pair(
        trackers.tracker(), sources.bounds_at_source, "source",
        Workload(transactions=4, rows=3, dialect="writeset",
                 options={"rotations": 0, "history_size": 2}), 150,
    ),
    "commit-order parents": Pair(
        trackers.tracker(), sources.bounds_at_source, "source",
        Workload(transactions=4, rows=3, dialect="commit_order", options={"rotations": 0}), 150,
    ),
    "semi-sync, recovered wait": Pair(
        semi_sync.semi_sync(semi_sync.Rules(name="semi_sync[waits]")), sources.semi_sync,
        "semi_sync",
        Workload(transactions=3, dialect="after_sync", options=STANDS), 4_000,
    ),
    "semi-sync, barred": Pair(
        semi_sync.semi_sync(semi_sync.Rules(name="semi_sync[barred]", recovery="barred")),
        sources.semi_sync, "semi_sync",
        Workload(transactions=3, dialect="barred_recovery", options=STANDS), 4_000,
    ),
    "semi-sync, AFTER_COMMIT": Pair(
        AFTER_COMMIT(), partial(sources.semi_sync, by_transaction=True), "semi_sync",
        Workload(transactions=3, dialect="after_commit", options={**STANDS, "source_crashes": 0}),
        2_000,
    ),
    "timestamps": Pair(
        al1.parallel_applier(), members.timestamps, "certifier",
        Workload(transactions=5, rows=3, dialect="wl8440"), 1_000,
    ),
    "timestamps, a number burned": Pair(
        al1.parallel_applier(al1.MYSQL_8_0), members.timestamps, "certifier",
        Workload(transactions=5, rows=3, dialect="mysql_8_0"), 1_000,
    ),
    "certification in a group": Pair(
        certifier.certification(), members.certification, "group",
        Workload(transactions=3, rows=2, dialect="wl8440", options=STAYS), 5_000,
    ),
    "batches": Pair(
        batches.batches(), mariadb.batches, "mariadb_parallel",
        Workload(transactions=4, rows=2, dialect="conservative",
                 options={"reads": 0, "stops": 0, "marks": 0, "ddl": 0, "failures": 0,
                          "timeouts": 1}), 10_000,
    ),
    "crash points": Pair(
        crash_points.crash_points(), mariadb.crash_points, "gtid_positions",
        Workload(transactions=3, rows=2, dialect="table",
                 options={"domains": 1, "stops": 0, "cleanups": 0}), 10_000,
    ),
    "rotation": Pair(
        rotation.rotation(), sources.rotation, "semi_sync",
        Workload(transactions=3, dialect="after_sync",
                 options={**STANDS, "source_crashes": 0, "replica_crashes": 1}), 5_000,
    ),
    "end to end": Pair(
        end_to_end.end_to_end(), whole_members.end_to_end, "group",
        Workload(transactions=3, rows=2, members=3, dialect="wl8440",
                 options={"joins": 1, "departures": 0, "absent": 1}), 350,
    ),
    "end to end, a number left out": Pair(
        end_to_end.end_to_end(), whole_members.end_to_end, "group",
        Workload(transactions=3, rows=2, members=3, dialect="mysql_8_0",
                 options={"joins": 1, "departures": 0, "absent": 1}), 350,
    ),
    "end to end, sessions that commit late and DDL": Pair(
        end_to_end.end_to_end(), whole_members.end_to_end, "group",
        Workload(transactions=4, rows=2, dialect="wl8440",
                 options={**STAYS, "sessions_commit_apart": True, "sessions": 2,
                          "alterations": 2}), 300,
    ),
    "end to end, DDL beside its users": Pair(
        ROWS_END_TO_END(), whole_members.end_to_end, "group",
        Workload(transactions=4, rows=2, dialect="wl8440",
                 options={**STAYS, "sessions_commit_apart": True, "sessions": 2,
                          "alterations": 2, "ddl_is_apart": False}), 300,
    ),
    "end to end, a joiner": Pair(
        end_to_end.end_to_end(), partial(whole_members.end_to_end, member="r2"), "group",
        Workload(transactions=4, rows=2, members=2, dialect="wl8440", options=ONE_JOINS), 400,
    ),
    "timestamps of a joiner": Pair(
        al1.parallel_applier(), partial(members.timestamps, member="r3"), "group",
        Workload(transactions=4, rows=2, members=3, dialect="wl8440", options=ONE_JOINS), 300,
    ),
    "timestamps of a joiner, a number burned": Pair(
        al1.parallel_applier(al1.MYSQL_8_0), partial(members.timestamps, member="r3"), "group",
        Workload(transactions=4, rows=2, members=3, dialect="mysql_8_0", options=ONE_JOINS), 300,
    ),
    "position": Pair(
        restart.restart(restart.Rules(name="position", by_position=True, commits_in_order=True)),
        replicas.restart, "gtid_positions",
        Workload(transactions=4, rows=2, dialect="table", options={"domains": 1, "crashes": 2}),
        10_000,
    ),
    "quorum, one of two": Pair(
        quorum.quorum(), quorums.quorum, "semi_sync",
        Workload(transactions=3, members=3, dialect="after_sync", options=ASKED), 8_000,
    ),
    "quorum, two of three": Pair(
        quorum.quorum(), quorums.quorum, "semi_sync",
        Workload(transactions=3, members=4, dialect="mysql_ordered",
                 options={**ASKED, "acknowledgements": 2, "loses_replicas": 1}), 8_000,
    ),
    "auto-position, crashes": Pair(
        auto_position.auto_position(), by_gtid.crashes, "applier",
        Workload(transactions=4, rows=3, dialect=UNORDERED, options={"workers": 3, "crashes": 2}),
        3_000,
    ),
    "auto-position, connections": Pair(
        auto_position.auto_position(), by_gtid.connections, "gap_free",
        Workload(transactions=4, options={"restarts": 2}), 3_000,
    ),
    "workers of a group": Pair(
        parallel_group.parallel_group(), whole_groups.parallel_group, "composed",
        Workload(transactions=4, rows=2, dialect="mysql_8_0", options=STAYS), 6_000,
    ),
    "workers of a group, members return": Pair(
        parallel_group.parallel_group(), whole_groups.parallel_group, "composed",
        Workload(transactions=5, rows=3, members=3, dialect="mysql_9_7", options=RETURNS), 6_000,
    ),
    "workers in any order": Pair(
        IN_ANY_ORDER(), unordered_groups.parallel_group, "composed",
        Workload(transactions=4, rows=2, dialect="mysql_8_0",
                 options={**STAYS, "one_commit_order": False}), 3_000,
    ),
    "workers in any order, members return": Pair(
        IN_ANY_ORDER(), unordered_groups.parallel_group, "composed",
        Workload(transactions=5, rows=3, members=3, dialect="mysql_9_7",
                 options={**RETURNS, "one_commit_order": False}), 3_000,
    ),
    "members that come back": Pair(
        returning_group.returning_group(), returning_groups.returning_group, "composed",
        Workload(transactions=5, rows=3, members=3, dialect="mysql_9_7",
                 options={**RETURNS, "one_commit_order": False}), 3_000,
    ),
    "sessions of a group": Pair(
        group.group(), whole_groups.group, "composed",
        Workload(transactions=5, rows=3, members=3, dialect="mysql_9_7", options=RETURNS), 6_000,
    ),
    "sessions of a group that wait": Pair(
        acknowledged_group.acknowledged_group(), waiting_groups.acknowledged_group,
        "composed",
        Workload(transactions=4, rows=3, members=3, dialect="mysql_9_7",
                 options={**STAYS, "acknowledgements": 2}), 4_000,
    ),
    "sessions of a group that wait for those that remain": Pair(
        acknowledged_group.acknowledged_group(FEW_REMAIN),
        partial(waiting_groups.acknowledged_group, waits_for_few=False),
        "composed",
        Workload(transactions=5, rows=3, members=3, dialect="mysql_9_7", options=RETURNS), 4_000,
    ),
    "clients of a group that wait": Pair(
        acknowledged_group.acknowledged_group(), waiting_groups.acknowledged_group,
        "composed",
        Workload(transactions=4, rows=3, members=3, dialect="mysql_9_7",
                 options={**STAYS, "acknowledgements": 2, "after_commit": True}), 4_000,
    ),
    "two members": Pair(
        two.members(), members.two_members, "group",
        Workload(transactions=3, rows=2, dialect="wl8440", options=STAYS), 5_000,
    ),
}  # fmt: skip

UNSEEN = {
    "semi-sync, AFTER_COMMIT": {"crash_and_recover"},
    "auto-position, crashes": {"disconnect", "pass_over", "purge", "source_crash"},
    "auto-position, connections": {"skip", "replica_crash", "source_crash"},
    "log and starts": {"certify_local", "collect_garbage", "join"},
    "bounds on a replica": {"forget"},
    "writeset": {"start", "leave", "advance"},
    "commit-order parents": {"start", "leave", "advance"},
    "end to end": {"join", "leave_out_number"},
    "end to end, a number left out": {"join"},
    "end to end, sessions that commit late and DDL": {"join", "leave_out_number", "change_view"},
    "end to end, DDL beside its users": {"join", "leave_out_number", "change_view"},
    "end to end, a joiner": {"leave_out_number", "change_view"},
    "workers of a group": {"collect", "crash", "join", "roll_back"},
    "workers of a group, members return": {"collect", "leave_out_number", "roll_back"},
    "workers in any order": {"collect", "crash", "join", "roll_back"},
    "workers in any order, members return": {"collect", "leave_out_number", "roll_back"},
    "members that come back": {"collect", "disconnect", "leave_out_number", "roll_back", "skip"},
    "sessions of a group": {"collect", "roll_back"},
    "sessions of a group that wait": {"collect", "crash", "join", "leave_out_number", "roll_back"},
    "sessions of a group that wait for those that remain": {
        "collect",
        "leave_out_number",
        "roll_back",
    },
    "clients of a group that wait": {"collect", "crash", "join", "leave_out_number", "roll_back"},
    "timestamps": {"join"},
    "timestamps of a joiner": {"change_view", "certify_local"},
    "timestamps of a joiner, a number burned": {"change_view", "certify_local"},
    "timestamps, a number burned": {"join"},
}
"""Actions that an abstraction function never reads off a run, whatever the run."""
