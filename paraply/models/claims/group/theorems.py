"""Theorems about one copy, joiners, hashes of write sets and members that apply in parallel."""

from __future__ import annotations

from paraply.models.claims.claim import OF_THE_GROUP, Theorem, about, smaller_only, there_too
from paraply.models.systems.variants import (
    variant_of_acknowledged_group,
    variant_of_group,
    variant_of_members,
    variant_of_one_copy,
    variant_of_parallel_group,
    variant_of_tracker,
)

IN_PARALLEL = variant_of_parallel_group(name="parallel_group")
"""The group with the numbers, workers and row locks of each member."""

IN_ANY_ORDER = variant_of_parallel_group(name="parallel_group[any order]", commits_in_order=False)
"""The same without commit order."""

THEOREMS_OF_THE_GROUP = (
    Theorem(
        id="P45",
        claim="WRITESET orders conflicting rows with any hash function, collisions included, if a "
        "write set has the hash of each of its rows.",
        systems=(variant_of_tracker(name="writeset_tracker[hashes]", hashes="all"),),
        statements=("conflicting_rows_are_ordered",),
        assumes=("A6",),
        delimited_by=("C88",),
        standing=about("the dependency tracker of one source"),
        source="WL#7165; Rpl_transaction_write_set_ctx",
    ),
    Theorem(
        id="P46",
        claim="One-copy snapshot isolation: a group whose members apply in the certified order "
        "loses no update, each transaction reads one state of that order, and members show "
        "prefixes of it.",
        systems=(variant_of_one_copy(name="one_copy"),),
        statements=(
            "first_committer_wins",
            "reads_are_of_one_snapshot",
            "members_show_prefixes",
            "versions_are_of_the_last_writer",
        ),
        assumes=(),
        delimited_by=("C89", "C90"),
        standing=there_too(
            "P49.changes_are_made_on_the_last_version",
            "P49.members_show_prefixes",
            but="reads of rows that their transaction does not write",
        ),
        source="WL#8440; Berenson and others 1995; Lin and others 2005, "
        "one-copy snapshot isolation",
    ),
    Theorem(
        id="P47",
        claim="A group that certified reads as well would have no write skew.",
        systems=(
            variant_of_one_copy(name="one_copy[reads]", certifies_reads=True, speaks_of_reads=True),
        ),
        statements=("there_is_no_write_skew",),
        assumes=(),
        delimited_by=("C91",),
        standing=smaller_only("the group model certifies no reads"),
        source="Berenson and others 1995, A5B; Fekete and others 2005",
    ),
    Theorem(
        id="P48",
        claim="A joiner that imports the donor's certification info at its view change decides as "
        "the donor does, though each collects garbage when it likes.",
        systems=(variant_of_members(name="members[joiner]", joins="imports"),),
        statements=("what_a_refuses_b_refuses", "what_b_refuses_a_refuses"),
        assumes=("A2", "A4"),
        delimited_by=("C92", "C93"),
        standing=smaller_only(
            "the group model decides with one certification info for all members",
        ),
        source="WL#8440 View_change_log_event; Certifier::set_certification_info",
    ),
    Theorem(
        id="P49",
        claim="In one model of a group, with sessions, collection, joiners and crashes, A11 holds, "
        "and A2 for the rows of each transaction, and each certified change was made on the "
        "version that the certified writer before it left.",
        systems=(variant_of_group(name="group"), IN_PARALLEL),
        statements=(
            "changes_are_made_on_the_last_version",
            "stable_writers_are_in_snapshots",
            "stable_is_applied_at_every_member",
            "members_show_prefixes",
        ),
        assumes=(),
        delimited_by=("C94", "C95", "C96", "C97", "C98"),
        standing=OF_THE_GROUP,
        source="WL#8440; Certifier::certify, Certifier::garbage_collect; virtual synchrony",
    ),
    Theorem(
        id="P53",
        claim="No conflicting parallel apply on any member of a group: each numbers transactions "
        "by its own certification info, and its workers start what LC allows, with commit order or "
        "without.",
        systems=(IN_PARALLEL, IN_ANY_ORDER),
        statements=(
            "conflicting_rows_are_ordered",
            "without_write_set_is_alone",
            "last_committed_covers_conflicts",
            "last_committed_is_below",
            "sessions_follow_earlier_writers",
        ),
        assumes=(),
        delimited_by=("C112", "C113", "C114", "C115", "C116"),
        standing=OF_THE_GROUP,
        source="WL#8440 AL1, EX3, EX4, EX7; Certifier::certify; Mts_submode_logical_clock",
    ),
    Theorem(
        id="P54",
        claim="Each member of a group commits in the group's order, though workers and sessions "
        "change rows in parallel, and each change lands on the version that the certified writer "
        "before it left.",
        systems=(IN_PARALLEL,),
        statements=(
            "members_show_prefixes",
            "changes_land_as_certified",
            "rows_of_a_session_are_its_own",
            "commits_are_steps_of_the_group",
        ),
        assumes=(),
        delimited_by=("C117", "C118", "C119"),
        standing=OF_THE_GROUP,
        source="WL#8440 session commit order; row locks of the server",
    ),
    Theorem(
        id="P55",
        claim="A group without commit order loses prefixes, but no update: the writers of each row "
        "commit in the group's order on every member, certified changes are made on the last "
        "version, and members that have committed everything agree.",
        systems=(IN_ANY_ORDER,),
        statements=(
            "writers_of_a_row_commit_in_order",
            "members_show_the_last_committed_writer",
            "members_agree_in_the_end",
            "changes_are_made_on_the_last_version",
            "stable_writers_are_in_snapshots",
            "stable_is_applied_at_every_member",
            "changes_land_as_certified",
            "rows_of_a_session_are_its_own",
            "commits_are_steps_of_the_group",
        ),
        assumes=(),
        delimited_by=("C119", "C120"),
        standing=OF_THE_GROUP,
        source="MySQL bug 89195; replica_preserve_commit_order=OFF; row locks of the server",
    ),
    Theorem(
        id="P56",
        claim="Semi-sync in the one model of a group: what a session made visible (AFTER_SYNC), or "
        "its client got an answer for (AFTER_COMMIT), is at a whole set of other members, but for "
        "those that have crashed since.",
        systems=(variant_of_acknowledged_group(name="acknowledged_group"),),
        statements=("what_readers_see_is_at_others", "what_clients_are_told_is_at_others"),
        assumes=("A5",),
        delimited_by=tuple(f"C{number}" for number in range(121, 130)),
        standing=OF_THE_GROUP,
        source="MDEV-162; rpl_semi_sync_source_wait_point",
    ),
)
