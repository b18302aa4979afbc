"""The composed system as a subject under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from paraply.reference_impl.causes import COMMITS_REORDERED
from paraply.reference_impl.certification.dialects import DIALECTS, dialect_named
from paraply.reference_impl.certification.subject import (
    BROKEN_BY_TIMESTAMPS,
    CAUSES_OF_TIMESTAMPS,
)
from paraply.reference_impl.composed.group import ComposedGroup
from paraply.reference_impl.composed.rows import TABLE
from paraply.reference_impl.composed.run import ComposedBudget, ComposedRun
from paraply.reference_impl.composed.settings import Composition
from paraply.reference_impl.group.subject import UNREACHABLE
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
from paraply.vocabulary.schema import TableSchema


class ComposedSubject(Subject):
    """A group with clients, appliers, semi-sync and readers at every member."""

    name = "composed"
    meaning = (
        "all pieces in one system: clients, certifier, relay log, parallel applier, row locks, "
        "commit order, semi-sync, crashes, joins, garbage collection"
    )
    source = "WL#8440, WL#6833, WL#7165, MDEV-162"
    dialects = tuple(DIALECTS)
    options = (
        Option(name="workers", default=2, least=1, meaning="replica_parallel_workers"),
        Option(
            name="acknowledgements",
            default=1,
            meaning="other members that must have received a transaction before it is committed",
        ),
        Option(
            name="after_commit",
            default=False,
            meaning="before its client is answered, but after the commit (AFTER_COMMIT)",
        ),
        Option(
            name="broadcasts", default=4, small=0, meaning="executed sets that members broadcast"
        ),
        Option(name="joins", default=1, small=0, meaning="how often a server joins or rejoins"),
        Option(
            name="departures", default=1, small=0, meaning="how often a member crashes or leaves"
        ),
        Option(name="absent", default=0, meaning="members that are not in the group at first"),
        Option(
            name="sessions", default=2, least=1, meaning="clients that a member serves at a time"
        ),
        Option(
            name="barriers",
            default=True,
            small=False,
            meaning="submit transactions without write set",
        ),
        Option(name="single_primary", default=False, meaning="only one member takes writes"),
        Option(name="block_size", default=1, least=1, meaning="GTIDs per assignment block"),
        Option(
            name="one_commit_order",
            default=True,
            meaning="a member's own transactions, too, commit as certified",
        ),
        Option(
            name="deletes",
            default=True,
            meaning="transactions also delete rows, and insert them again",
        ),
        Option(
            name="alterations",
            default=1,
            small=0,
            meaning="ALTER TABLE of the table of all rows, beside no user of it on other members",
        ),
        Option(name="reads", default=4, small=0, meaning="snapshots that readers take"),
    )
    breaks = BROKEN_BY_TIMESTAMPS
    causes = CAUSES_OF_TIMESTAMPS
    follows = (
        KnownBreaches(
            where="one_commit_order=false, sessions=2",
            applies=lambda options: (
                not options["one_commit_order"] and int(options["sessions"]) > 1
            ),
            breaks=frozenset({"refusals_are_deserved"}),
            because="commit order is kept among remote transactions: one may be there before the "
            "client's that it had seen, which is certified and has yet to commit",
            cause=COMMITS_REORDERED,
        ),
    )
    schema: ClassVar[tuple[TableSchema, ...]] = (TABLE,)
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = UNREACHABLE

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run the system to its end."""
        names = tuple(f"r{number}" for number in range(1, workload.members + 1))
        composition = Composition(
            is_single_primary=bool(options["single_primary"]),
            block_size=int(options["block_size"]),
            sessions_commit_apart=True,
            rows=workload.row_names,
            workers=int(options["workers"]),
            acknowledgements=int(options["acknowledgements"]),
            after_commit=bool(options["after_commit"]),
            one_commit_order=bool(options["one_commit_order"]),
        )
        group = ComposedGroup(names, dialect_named(dialect), composition, recorder)
        group.boot(names[: max(1, len(names) - int(options["absent"]))])
        budget = ComposedBudget(
            transactions=workload.transactions,
            broadcasts=int(options["broadcasts"]),
            joins=int(options["joins"]),
            departures=int(options["departures"]),
            sessions=int(options["sessions"]),
            barriers=bool(options["barriers"]),
            alterations=int(options["alterations"]),
            reads=int(options["reads"]),
            deletes=bool(options["deletes"]),
        )
        ComposedRun(group, schedule, budget, workload.row_names).run()
        return names


COMPOSED = register_subject(ComposedSubject())
