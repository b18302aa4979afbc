"""The MySQL 5.6 executed set as a subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from paraply.reference_impl.causes import (
    NUMBER_SKIPPED,
    SKIPPED_OR_OF_TWO,
    STARTED_AFTER_FILTERING,
)
from paraply.reference_impl.mariadb_gtid.gap_free import GapBudget, GapFreeServers
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Cause, Option, Subject, Workload, register_subject
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule

_GROWS = frozenset({"state_has_one_entry_per_domain"})
_HOLE = _GROWS | {"executed_sets_close_their_holes"}


class GapFreeSubject(Subject):
    """Source, successor and filtering replica."""

    name = "gap_free"
    meaning = "MySQL 5.6 GTIDs: a source, its successor and a replica that filters a schema"
    source = "More on global transaction ID in MariaDB, 2013: On holes"
    dialects = ("mysql_5_6", "filters_drop", "allocates_early")
    options = (
        Option(name="filter", default=True, meaning="r1 leaves out schema db1"),
        Option(name="failures", default=1, meaning="transactions that cannot be logged"),
        Option(name="restarts", default=1, meaning="times that the replica connects anew"),
        Option(name="purges", default=1, meaning="purges of binary logs"),
        Option(name="losses", default=1, greatest=1, meaning="whether the source is lost"),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "mysql_5_6": _GROWS,
        "filters_drop": _HOLE | {"nothing_is_sent_again", "auto_position_finds_what_it_asks"},
        "allocates_early": _HOLE,
    }
    causes: ClassVar[Mapping[str, Cause]] = {
        "state_has_one_entry_per_domain": SKIPPED_OR_OF_TWO,
        "executed_sets_close_their_holes": NUMBER_SKIPPED,
        "nothing_is_sent_again": STARTED_AFTER_FILTERING,
        "auto_position_finds_what_it_asks": STARTED_AFTER_FILTERING,
    }
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        "mysql_5_6": frozenset({"executed_set_has_a_hole"}),
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run until no step remains."""
        servers = GapFreeServers(
            recorder,
            GapBudget(**{name: int(options[name]) for name in GapBudget.__dataclass_fields__}),
            workload.transactions,
            allocates_early=dialect == "allocates_early",
            logs_empty=dialect != "filters_drop",
            has_filter=bool(options["filter"]),
        )
        servers.run(schedule)
        return tuple(server.name for server in servers.servers)


GAP_FREE = register_subject(GapFreeSubject())
