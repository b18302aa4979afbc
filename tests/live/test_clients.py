"""Published anomalies, seen again by clients of real servers, and their absence where promised."""

from __future__ import annotations

from contextlib import closing

import pytest

from paraply.adapters.live.clients.options import (
    BANK,
    COUNTER,
    LIST_APPEND,
    RW_REGISTER,
    SET,
    ClientOptions,
    IsolationLevel,
    Route,
)
from paraply.adapters.live.clients.run import client_rounds
from paraply.adapters.live.galera.lab import find_provider
from paraply.adapters.live.target import LiveRequest, target_named
from paraply.adapters.live.targets import TARGETS
from paraply.adapters.servers import find_mariadb, find_mysql
from paraply.observing.clients import LOST, Status, new_client_result, take_client_round
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

pytestmark = [pytest.mark.live(minutes=8), pytest.mark.long(each=1, by_row=True)]

_ROUNDS_MAX = 4
_PATIENCE_S = 40
SERIALIZABLE = IsolationLevel.SERIALIZABLE


@pytest.fixture(params=["mariadb", "mysql"])
def family(request):
    present({"mariadb": find_mariadb, "mysql": find_mysql}[request.param])
    return request.param


@pytest.fixture
def galera():
    present(find_provider)
    present(find_mariadb)


def present(find):
    try:
        print(f"live: {find()}")
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")


def run(target, *, mode="", until=(), transactions=700, **options):
    """Run rounds until each phenomenon of ``until`` was seen, at most four."""
    chosen = target_named(target, TARGETS)
    mode = mode or chosen.modes[0]
    request = LiveRequest(
        mode=mode, rounds=_ROUNDS_MAX if until else 1, transactions=transactions, clients=8,
        duration_s=_PATIENCE_S, seed=5,
    )  # fmt: skip
    result = new_client_result(target, request, ClientOptions(**options))
    with closing(client_rounds(target, request, result.options)) as rounds:
        for one in rounds:
            take_client_round(result, one)
            if set(until) <= broken(result):
                break
    print(f"live: {target} {mode} {options} {result.evidence} {broken(result)}")
    return result


def broken(result, view="all"):
    return {one.label for one in result.findings.values() if one.broken and one.view == view}


def test_repeatable_read_loses_updates_and_skews_as_published(family):
    published = {"P4", "G-single", "G2-item", "internal"}
    result = run(family, until=published, workload=LIST_APPEND)
    assert published <= broken(result)
    assert {result.findings["all", one].status for one in published} == {Status.DOCUMENTED}
    # Read-only transactions see one snapshot, and nothing that was over is missed.
    assert not broken(result, "read-only")
    assert result.findings["all", "stale read"].status is Status.CONFIRMED
    assert result.verdict() is not Verdict.VIOLATED
    witness = result.findings["all", "P4"].witness
    assert all("GTID" in one and "bin.0" in one for one in witness.transactions)


def test_serializable_server_is_serializable(family):
    result = run(family, workload=RW_REGISTER, isolation=SERIALIZABLE, transactions=400)
    assert result.verdict() is Verdict.HOLDS
    assert "G2-item" not in broken(result)


def test_transfers_computed_by_clients_change_the_total_at_repeatable_read(family):
    result = run(family, until={"bank total", "log total"}, workload=BANK)
    assert {"bank total", "log total"} <= broken(result)
    # Each read shows the total after some transfer of the log, so the log lost the updates.
    if family == "mysql":
        assert "prefix total" not in broken(result, "read-only")


def test_reads_of_serializable_sessions_at_a_replica_are_stale(family):
    result = run(
        family, until={"stale read"}, workload=LIST_APPEND, isolation=SERIALIZABLE,
        reads=Route.REPLICA,
    )  # fmt: skip
    assert result.findings["all", "stale read"].status is Status.DOCUMENTED
    assert result.findings["read-only", "prefix"].status is Status.CONFIRMED
    assert LOST not in broken(result)


def test_readers_that_wait_for_gtids_miss_nothing_at_a_replica(family):
    result = run(family, workload=LIST_APPEND, reads=Route.REPLICA, wait="gtid-wait")
    assert result.findings["all", "stale read"].status is Status.CONFIRMED
    assert not broken(result, "read-only")


LOSSES = {SET: "lost element", COUNTER: "lost increment"}
AT_SERVER = "monotonic reads at one server"


@pytest.mark.parametrize("workload", LOSSES)
def test_elements_and_increments_of_one_server_remain_and_no_read_is_stale(family, workload):
    result = run(family, workload=workload, transactions=300)
    assert result.verdict() is Verdict.HOLDS
    for label in (LOSSES[workload], AT_SERVER, "stale read", LOST):
        assert result.findings["all", label].status is Status.CONFIRMED
    if workload == SET:
        assert result.evidence["elements stable"] >= 100
    else:
        assert result.findings["all", "logged increment"].status is Status.CONFIRMED


@pytest.mark.parametrize("workload", LOSSES)
def test_sets_and_counters_of_a_replica_are_stale_and_a_prefix(family, workload):
    result = run(
        family, until={"stale read"}, workload=workload, reads=Route.REPLICA, transactions=400
    )  # fmt: skip
    stale = result.findings["all", "stale read"]
    assert stale.status is Status.DOCUMENTED
    assert any("GTID" in one and "bin.0" in one for one in stale.witness.transactions)
    # In the end the replica has all. Each read of MySQL is a state of the source's log (MariaDB's
    # snapshots need not be: test_snapshots).
    for label in (LOSSES[workload], "final reads", AT_SERVER):
        assert result.findings["all", label].status is Status.CONFIRMED
    if family == "mysql":
        assert result.findings["read-only", "prefix"].status is Status.CONFIRMED
    assert result.verdict() is not Verdict.VIOLATED


@pytest.mark.parametrize("workload", LOSSES)
def test_sets_and_counters_of_a_replica_that_has_the_gtids_are_current(family, workload):
    result = run(
        family, workload=workload, reads=Route.ANY, wait="gtid-wait", transactions=300
    )  # fmt: skip
    for label in (LOSSES[workload], "final reads", "stale read", AT_SERVER):
        assert result.findings["all", label].status is Status.CONFIRMED
    assert result.verdict() is Verdict.HOLDS


@pytest.mark.usefixtures("galera")
@pytest.mark.parametrize("workload", LOSSES)
def test_galera_keeps_elements_and_increments_on_every_member(workload):
    result = run("galera", workload=workload, reads=Route.ANY, transactions=400)
    for label in (LOSSES[workload], "final reads", AT_SERVER, LOST):
        assert result.findings["all", label].status is Status.CONFIRMED
    stale = result.findings["all", "stale read"].status
    assert stale in (Status.DOCUMENTED, Status.HELD)


@pytest.mark.usefixtures("galera")
@pytest.mark.parametrize("workload", LOSSES)
def test_causal_reads_of_galera_miss_no_element_and_no_increment(workload):
    result = run(
        "galera", workload=workload, reads=Route.ANY, wait="sync-wait", transactions=300
    )  # fmt: skip
    assert result.findings["all", "stale read"].status is Status.CONFIRMED
    assert result.findings["all", LOSSES[workload]].status is Status.CONFIRMED


@pytest.mark.usefixtures("galera")
def test_healthy_galera_loses_updates_at_repeatable_read():
    result = run("galera", until={"P4", "stale read"}, workload=LIST_APPEND, transactions=1_000)
    assert result.findings["all", "P4"].status is Status.KNOWN
    assert result.findings["all", "stale read"].status is Status.DOCUMENTED
    assert result.verdict() is Verdict.VIOLATED


@pytest.mark.usefixtures("galera")
def test_healthy_galera_loses_updates_with_causal_reads_too():
    result = run("galera", until={"P4"}, workload=LIST_APPEND, wait="sync-wait", transactions=1_000)
    assert result.findings["all", "P4"].status is Status.KNOWN
    assert result.findings["all", LOST].status is Status.CONFIRMED


@pytest.mark.parametrize(("mode", "is_seen"), [("AFTER_COMMIT", True), ("AFTER_SYNC", False)])
def test_clients_lose_what_they_read_only_under_after_commit(family, mode, is_seen):
    until = {"orders"} if is_seen else ()
    result = run(
        f"{family}-semisync", mode=mode, until=until, workload=LIST_APPEND, transactions=500
    )
    assert ("orders" in broken(result)) == is_seen
    assert result.findings["all", LOST].status is Status.CONFIRMED
    if is_seen:
        assert result.findings["all", "orders"].between_servers
