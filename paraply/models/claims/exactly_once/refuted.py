"""Refuted statements about auto-position."""

from __future__ import annotations

from paraply.models.claims.claim import Counterexample
from paraply.models.claims.exactly_once.theorems import with_any_purge
from paraply.models.language.concrete import Scope
from paraply.models.systems.variants import variant_of_auto_position

TWO_GTIDS = Scope(low=0, high=2, size=1)
TWO_CONTENTS = Scope(low=0, high=1, size=2)

REFUTED_OF_EXACTLY_ONCE = (
    Counterexample(
        id="C99", title="auto-position, and the GTID is recorded after the data",
        system=with_any_purge(name="auto_position[gtid apart]", gtid_with_data=False),
        statement="nothing_is_applied_twice", scope=TWO_GTIDS, steps=9,
        source="assumption A15; engines without transactions",
        elsewhere="The mutant `executed_set_is_lost_at_restart` of the reference.",
    ),
    Counterexample(
        id="C100", title="a replica names what a crash took from its relay log",
        system=with_any_purge(name="auto_position[tells what is lost]", tells_what_it_has=False),
        statement="nothing_is_passed_over", scope=TWO_GTIDS, steps=7,
        source="assumption A16; Retrieved_Gtid_Set and a relay log that was not synced",
        elsewhere="C72 is the same loss without auto-position.",
    ),
    Counterexample(
        id="C101", title="a replica asks for what follows its last executed GTID",
        system=with_any_purge(name="auto_position[tells its last]", tells_a_set=False),
        statement="nothing_is_passed_over", scope=TWO_GTIDS, steps=12,
        source="gaps of parallel workers; MySQL manual, SOURCE_LOG_POS beside "
        "START REPLICA UNTIL SQL_AFTER_MTS_GAPS",
        elsewhere="The mutant `position_is_highest_sequence` of the reference.",
    ),
    Counterexample(
        id="C102", title="a source sends before it syncs: after its crash the replica is ahead",
        system=with_any_purge(name="auto_position[sends unsynced]", sends_durable=False),
        statement="applied_is_what_the_source_has", scope=TWO_CONTENTS, steps=6,
        source="assumption A18; sync_binlog other than 1 at the source",
        elsewhere="C74 is the same with semi-synchronous replicas, where a run is shown.",
    ),
    Counterexample(
        id="C103", title="a source that purged what a replica lacks serves it without a word",
        system=with_any_purge(name="auto_position[no refusal]", checks_purged=False),
        statement="nothing_is_passed_over", scope=TWO_GTIDS, steps=4,
        source="why servers refuse with error 1236",
        elsewhere="The reference's source refuses, and `auto_position_finds_what_it_asks` reports "
        "it.",
    ),
    Counterexample(
        id="C104", title="auto-position without GTID auto-skip",
        system=with_any_purge(name="auto_position[no skip]", skips_executed=False),
        statement="nothing_is_applied_twice", scope=TWO_GTIDS, steps=9,
        source="WL#8440, GTID auto-skip; a relay log that is kept and read again",
    ),
    Counterexample(
        id="C105", title="two workers run one GTID that was fetched twice",
        system=with_any_purge(name="auto_position[no owner]", owns_gtids=False),
        statement="nothing_is_applied_twice", scope=TWO_GTIDS, steps=10,
        source="GTID ownership; MDEV-8354, MDEV-33475",
        elsewhere="The mutant `domain_owner_leaves_before_the_commit` of the reference.",
    ),
    Counterexample(
        id="C106", title="a source purges what a replica has not executed",
        system=variant_of_auto_position(
            name="auto_position[early purge]", purges_executed_only=False
        ),
        statement="what_is_missing_can_be_fetched", scope=TWO_GTIDS, steps=3,
        source="assumption A21; binlog_expire_logs_seconds asks no replica",
        elsewhere="The mutant `purge_asks_no_replica` of the reference.",
    ),
)  # fmt: skip
