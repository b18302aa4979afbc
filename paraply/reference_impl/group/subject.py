"""The group as a subject under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from paraply.reference_impl.causes import (
    COMMITS_REORDERED,
    DDL,
    OVERTAKEN_AS_STAMPED,
    TOO_LARGE_TO_STORE,
    VIEW_CHANGED,
    WRONG_STAMP,
)
from paraply.reference_impl.certification.dialects import DIALECTS, dialect_named
from paraply.reference_impl.certification.subject import (
    BROKEN_BY_TIMESTAMPS,
    CAUSES_OF_TIMESTAMPS,
    WITHOUT_VIEW_CHANGES,
)
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.run import TABLE, Budget, GroupRun
from paraply.reference_impl.group.settings import Settings
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import (
    KnownBreaches,
    Option,
    Subject,
    Workload,
    register_subject,
)
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule

# Sessions are a matter of the source's own log.
UNREACHABLE: Mapping[str, frozenset[str]] = {
    "": frozenset({"a_session_logs_two_transactions", "timestamps_keep_session_order"}),
    **WITHOUT_VIEW_CHANGES,
}


_WRITER_WAS_FORGOTTEN = frozenset(
    {
        "changes_land_as_certified",
        "first_certified_wins",
        "members_converge",
        "own_transactions_commit_after_what_they_saw",
    }
)
_FORGOTTEN_TOO_EARLY = frozenset(
    {"collection_never_changes_a_decision", "nothing_needed_is_purged"}
)


def _new_primary_may_write_forgotten_rows(options: Mapping[str, OptionValue]) -> bool:
    return bool(options["single_primary"] and options["preemptive_rows_threshold"]) and not bool(
        options["waits_for_backlog"]
    )


class GroupSubject(Subject):
    """A group and its clients."""

    name = "group"
    meaning = "group replication: certification, timestamps, garbage collection, view changes"
    source = "WL#8440, WL#6833"
    dialects = tuple(DIALECTS)
    options = (
        Option(
            name="broadcasts", default=4, small=0, meaning="executed sets that members broadcast"
        ),
        Option(name="joins", default=1, small=0, meaning="how often a server joins or rejoins"),
        Option(
            name="departures", default=1, small=0, meaning="how often a member crashes or leaves"
        ),
        Option(name="absent", default=0, meaning="members that are not in the group at first"),
        Option(name="sessions", default=1, meaning="undecided transactions a member may have"),
        Option(
            name="barriers",
            default=True,
            small=False,
            meaning="submit transactions without write set",
        ),
        Option(name="single_primary", default=False, meaning="only one member takes writes"),
        Option(name="block_size", default=1, least=1, meaning="GTIDs per assignment block"),
        Option(
            name="preserve_commit_order",
            default=True,
            meaning="remote transactions commit in relay log order",
        ),
        Option(
            name="preemptive_rows_threshold",
            default=0,
            meaning="with one primary: items at which preemptive collection strikes (0: off)",
        ),
        Option(
            name="waits_for_backlog",
            default=True,
            meaning="a new primary applies its backlog before it takes writes",
        ),
        Option(
            name="sessions_commit_apart",
            default=False,
            meaning="a session commits in a step of its own, after it is certified",
        ),
        Option(name="alterations", default=0, meaning="ALTER TABLE of the table of all rows"),
        Option(
            name="ddl_is_apart",
            default=True,
            meaning="no ALTER TABLE runs beside users of the table on other members",
        ),
    )
    breaks = BROKEN_BY_TIMESTAMPS
    causes = CAUSES_OF_TIMESTAMPS
    breaks_where = (
        KnownBreaches(
            where="single_primary=true, preemptive_rows_threshold>0, waits_for_backlog=false",
            applies=_new_primary_may_write_forgotten_rows,
            breaks=_WRITER_WAS_FORGOTTEN,
            because="a new primary writes rows whose writers were forgotten before it applied them",
            cause=VIEW_CHANGED,
        ),
        KnownBreaches(
            where="preserve_commit_order=false",
            applies=lambda options: not options["preserve_commit_order"],
            breaks=frozenset({"refusals_are_deserved", "remote_transactions_commit_as_certified"}),
            because="workers commit in any order that last_committed allows. A snapshot may then "
            "lack what a transaction in it had seen: the version that is stored for a row is the "
            "whole snapshot of its writer",
            cause=OVERTAKEN_AS_STAMPED,
            scope=Workload(
                transactions=6,
                rows=4,
                options={"joins": 0, "departures": 0, "broadcasts": 0, "barriers": False},
            ),
        ),
        KnownBreaches(
            where="sessions_commit_apart=true, sessions=2",
            applies=lambda options: bool(
                options["sessions_commit_apart"] and int(options["sessions"]) > 1
            ),
            breaks=frozenset({"refusals_are_deserved"}),
            because="commit order is kept among remote transactions: one may be there before the "
            "session's that it had seen, which is certified and has yet to commit",
            cause=COMMITS_REORDERED,
            scope=Workload(
                transactions=6,
                rows=4,
                options={"joins": 0, "departures": 0, "broadcasts": 0, "barriers": False},
            ),
        ),
        KnownBreaches(
            where="alterations>0, ddl_is_apart=false",
            applies=lambda options: bool(options["alterations"] and not options["ddl_is_apart"]),
            breaks=frozenset({"definitions_are_as_certified"}),
            cause=DDL,
            because="an ALTER TABLE has no write set, so nothing refuses its conflicts",
        ),
    )
    follows = (
        KnownBreaches(
            where="single_primary=true, preemptive_rows_threshold>0, waits_for_backlog=false",
            applies=_new_primary_may_write_forgotten_rows,
            breaks=_FORGOTTEN_TOO_EARLY | {"gtids_are_unique", "members_decide_alike"},
            because="members forget on their own timers what a new primary has not applied, and "
            "decide and number otherwise then",
            cause=VIEW_CHANGED,
        ),
        KnownBreaches(
            where="waits_for_backlog=false",
            applies=lambda options: not options["waits_for_backlog"],
            breaks=_FORGOTTEN_TOO_EARLY | _WRITER_WAS_FORGOTTEN,
            because="no round of reports waits for a recovering member, so a row's version may be "
            "purged that a member has not applied when it takes writes",
            cause=VIEW_CHANGED,
            dialects=frozenset(
                name for name, dialect in DIALECTS.items() if not dialect.recovering_members_report
            ),
        ),
        KnownBreaches(
            where="",
            applies=lambda _: True,
            breaks=frozenset(
                {
                    "changes_land_as_certified",
                    "definitions_are_as_certified",
                    "members_converge",
                    "view_changes_are_applied_alone",
                }
            ),
            because="transactions overlap that the text's timestamps do not keep apart",
            cause=WRONG_STAMP,
            dialects=frozenset({"wl8440_literal"}),
        ),
        KnownBreaches(
            where="alterations>0, ddl_is_apart=false",
            applies=lambda options: bool(options["alterations"] and not options["ddl_is_apart"]),
            breaks=frozenset({"members_converge"}),
            because="an ALTER TABLE has no write set, so nothing refuses its conflicts",
            cause=DDL,
        ),
        KnownBreaches(
            where="single_primary=true, preemptive_rows_threshold>0",
            applies=lambda options: bool(
                options["single_primary"] and options["preemptive_rows_threshold"]
            ),
            breaks=frozenset({"conflicting_transactions_are_ordered"}),
            because="a write set that is too large to store counts as none, and step 1 of AL1 "
            "lets transactions without write set overlap with what is before them",
            cause=TOO_LARGE_TO_STORE,
            dialects=frozenset({"wl8440_literal"}),
        ),
    )
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = UNREACHABLE

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run a group to its end."""
        names = tuple(f"r{number}" for number in range(1, workload.members + 1))
        settings = Settings(
            is_single_primary=bool(options["single_primary"]),
            preserves_commit_order=bool(options["preserve_commit_order"]),
            block_size=int(options["block_size"]),
            preemptive_rows_threshold=int(options["preemptive_rows_threshold"]),
            waits_for_backlog=bool(options["waits_for_backlog"]),
            sessions_commit_apart=bool(options["sessions_commit_apart"]),
        )
        group = Group(names, dialect_named(dialect), settings, recorder)
        present = max(1, len(names) - int(options["absent"]))
        group.boot(names[:present])
        budget = Budget(
            transactions=workload.transactions,
            broadcasts=int(options["broadcasts"]),
            joins=int(options["joins"]),
            departures=int(options["departures"]),
            sessions=int(options["sessions"]),
            timers=int(options["broadcasts"]) if settings.collects_preemptively else 0,
            barriers=bool(options["barriers"]),
            alterations=int(options["alterations"]),
            is_ddl_apart=bool(options["ddl_is_apart"]),
        )
        rows = workload.row_names
        if budget.alterations:
            rows = tuple(f"{TABLE}.{row}" for row in rows)
        GroupRun(group, schedule, budget, rows).run()
        return names


GROUP = register_subject(GroupSubject())
