"""What a replica that does not go on waits for, told from what its sessions are at."""

from __future__ import annotations

import pytest

from paraply.adapters.live.pair.waits import Waiter, told_waits, waits_on
from paraply.adapters.servers.errors import STATEMENT_FAILED
from paraply.vocabulary.errors import ParaplyError

SOURCE = "9c8aaa70-e622-11f1-8db6-02fc00000001"
TURN = "Waiting for preceding transaction to commit"
APPLIES = "Applying batch of row changes (update)"


def waiter(session, number, state=TURN, rows_of=()):
    return Waiter(session=session, gtid=f"{SOURCE}:{number}", state=state, rows_of=rows_of)


def test_workers_behind_transactions_that_nobody_has_are_told_with_those():
    # As seen on MySQL 9.7.4 after KILL of the worker that had 139.
    told = told_waits([waiter(16, 141), waiter(15, 140)], f"{SOURCE}:1-137")
    assert told == (
        f"no worker has {SOURCE}:138-139, which others wait for;"
        f" sessions 15 (:140), 16 (:141) are at '{TURN}'"
    )


def test_worker_whose_turn_comes_after_one_that_is_under_way_waits_for_somebody():
    told = told_waits([waiter(15, 140), waiter(14, 139, APPLIES)], f"{SOURCE}:1-138")
    assert "no worker has" not in told
    assert told.startswith(f"session 14 ({SOURCE}:139) is at '{APPLIES}'; session 15 ")


@pytest.mark.parametrize("executed", ["", f"{SOURCE}:1"])
def test_first_transaction_of_all_waits_for_nobody(executed):
    assert "no worker has" not in told_waits([waiter(15, 1)], executed)


def test_circle_over_rows_and_a_turn_is_told():
    # As seen on MySQL 9.7.4 under forged metadata.
    told = told_waits(
        [waiter(48, 179), waiter(53, 185, APPLIES, (48,)), waiter(49, 178, APPLIES, (53,))],
        f"{SOURCE}:1-177",
    )
    assert told == (
        f"session 49 ({SOURCE}:178) is at '{APPLIES}', for a row of 53;"
        f" session 48 (:179) is at '{TURN}';"
        f" session 53 (:185) is at '{APPLIES}', for a row of 48"
    )


def test_applier_that_has_nothing_to_do_is_told_to():
    assert told_waits([], f"{SOURCE}:1-5") == "no session of its applier has anything to do"


class Replica:
    """Answers by the beginning of what it is asked."""

    name = "replica1"

    def __init__(self, answers, is_mariadb=False):
        self._answers, self.is_mariadb = answers, is_mariadb

    def query(self, statement):
        found = [rows for start, rows in self._answers.items() if statement.startswith(start)]
        if not found:
            raise ParaplyError(
                STATEMENT_FAILED, where=self.name, statement=statement, reason="denied"
            )
        return found[0]


SESSIONS = [
    (5, "event_scheduler", "", None, "Daemon", 71, "Waiting on empty queue", None),
    (11, "system user", "", None, "Connect", 71, "Waiting for source to send event", None),
    (12, "system user", "", None, "Query", 7, "Waiting for workers to exit", None),
    (14, "system user", "", None, "Query", 7, "Waiting for an event from Coordinator", None),
    (15, "system user", "", None, "Query", 7, APPLIES, None),
    (31, "root", "", None, "Query", 6, "Killing replica", "STOP REPLICA"),
]


def test_sessions_of_the_applier_are_asked_for_with_their_transactions_and_rows():
    replica = Replica(
        {
            "SHOW PROCESSLIST": SESSIONS,
            "SELECT t.": [(15, f"{SOURCE}:7"), (14, f"{SOURCE}:6")],
            "SELECT r.": [(15, 31), (15, 31)],
            "SELECT @@global.gtid_executed": [(f"{SOURCE}:1-6",)],
        }
    )
    assert waits_on(replica) == (
        f"session 15 ({SOURCE}:7) is at '{APPLIES}', for a row of 31;"
        " session 12 is at 'Waiting for workers to exit'"
    )


def test_mariadb_is_asked_for_states_alone():
    replica = Replica(
        {
            "SHOW PROCESSLIST": [
                (7, "system user", "", None, "Slave_worker", 1,
                 "Waiting for prior transaction to commit", None),
                (8, "system user", "", None, "Slave_worker", 1,
                 "Waiting for work from SQL thread", None),
                (9, "system user", "", None, "Slave_SQL", 1,
                 "Slave has read all relay log; waiting for more updates", None),
            ],
            "SELECT @@gtid_binlog_pos": [("0-1-5",)],
        },
        is_mariadb=True,
    )  # fmt: skip
    assert waits_on(replica) == "session 7 is at 'Waiting for prior transaction to commit'"


def test_server_that_does_not_answer_is_said_not_to():
    assert "could not be asked" in waits_on(Replica({}))
