"""Gap-free servers with one fault each."""

from __future__ import annotations

from paraply.reference_impl.mariadb_gtid.gap_free import Executed, GapFreeServers, GtidServer, Open
from paraply.reference_impl.mariadb_gtid.gap_free_subject import GapFreeSubject
from paraply.reference_impl.mutants import Mutant, register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, Gtid

HOLES = "executed_sets_close_their_holes"


class EmptyGetsOwnGtid(GapFreeServers):
    """Empty transactions get the replica's GTIDs."""

    def empty_for(self, one: Executed) -> Executed:
        """Use the replica's next number."""
        self.replica.last_number += 1
        return one._replace(gtid=Gtid(self.replica.source, self.replica.last_number))


class FilteredIsDropped(GapFreeServers):
    """Filtered transactions leave no empty one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.logs_empty = False


class NumberIsNotGivenBack(GapFreeServers):
    """A failed transaction keeps its number."""

    def on_failure(self, one: Open) -> None:
        """Lose the number."""
        super().on_failure(one)
        self.source.last_number += 1


class PurgesAtWill(GapFreeServers):
    """A purge ignores the replicas."""

    def purgeable(self, server: GtidServer) -> int:
        """Return the log length."""
        return len(server.log)


class ForgetsExecuted(GapFreeServers):
    """A restart empties the executed set."""

    def on_restart(self) -> None:
        """Empty the set."""
        super().on_restart()
        self.replica.executed = EMPTY_GTID_SET


def _mutant(name: str, servers: type[GapFreeServers], caught_by: str, source: str, fault: str,
            transactions: int = 4) -> Mutant:  # fmt: skip
    return register_mutant(written_mutant(
        name=name, family="gap-free GTIDs", source=source, fault=fault, caught_by=caught_by,
        subject=GapFreeSubject(servers), workload=Workload(transactions=transactions),
    ))  # fmt: skip


_mutant("empty_transaction_gets_a_new_gtid", EmptyGetsOwnGtid, HOLES,
        "a dummy event is used to replace the filtered event",
        "the filtered number stays open for ever")  # fmt: skip
_mutant("filtered_transaction_is_dropped", FilteredIsDropped, "nothing_is_sent_again",
        "a dummy event is used to replace the filtered event",
        "each new connection sends what is filtered again")  # fmt: skip
_mutant("number_of_a_failed_transaction_is_lost", NumberIsNotGivenBack, HOLES,
        "We now cannot simply rollback T1", "a number is given and never logged")  # fmt: skip
_mutant("purge_asks_no_replica", PurgesAtWill, "auto_position_finds_what_it_asks",
        "gtid_purged, error 1236", "a replica that lags can follow nobody")  # fmt: skip
_mutant("executed_set_is_lost_at_restart", ForgetsExecuted, "no_event_is_applied_twice",
        "gtid_executed", "everything is applied again")  # fmt: skip
