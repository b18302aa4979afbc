"""A real group, observed while it runs, decides as the certifier of the reference does."""

from __future__ import annotations

import pytest

import paraply.properties.all  # noqa: F401
from paraply.adapters.group_wire.capture import open_sniffer
from paraply.adapters.live.group.lab import told
from paraply.adapters.live.group.run import record_group_run
from paraply.adapters.live.group.target import CUT, MYSQL_GROUP
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.adapters.servers.group_replication import APPLIER_CHANNEL, GroupReplication
from paraply.adapters.servers.network import PrivateNetwork
from paraply.observing.conformance import dialect_for
from paraply.observing.judging import new_result, take_round
from paraply.properties.registry import property_named, verdict_of
from paraply.reference_impl.group.recorded import compare_with_reference
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.live.decoding import compare_with_own_tool

pytestmark = [pytest.mark.live(minutes=4), pytest.mark.long(each=1, by_row=True)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    try:
        installation = find_mysql()
        open_sniffer().close()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {installation.version_text}")
    with ServerRoom() as room:
        run = record_group_run(room, installation, transactions=3_000, seed=11)
        folder = tmp_path_factory.mktemp("dumps")
        decoded = sum(
            compare_with_own_tool(
                member,
                [*member.binary_logs(), *member.datadir.glob(f"relay-{APPLIER_CHANNEL}.0*")],
                folder,
            )
            for member in room.servers
        )
    return installation, run, decoded


def test_whole_run_is_decided_as_the_reference_decides(recorded):
    installation, run, _ = recorded
    dialect = dialect_for(installation.version_text)
    compared = compare_with_reference(run.trace, dialect)
    print(f"live: {compared.remote_transactions} remote decisions, {compared.refusals} refusals")
    assert [str(d) for d in compared.differences] == []
    assert compared.remote_transactions >= 4_000
    assert compared.refusals > 0
    assert compared.collections_on_join >= 2
    # How much a donor gives depends on when garbage was collected; the recorded runs have some.
    print(f"live: {compared.donated_items} donated items")


def test_servers_count_the_conflicts_that_the_record_shows(recorded):
    _, run, _ = recorded
    refused = sum(not step.decided for step in run.trace.transactions)
    assert max(run.conflicts_detected.values()) == refused > 0
    assert all(len(sums) == 1 for sums in run.checksums.values())


def test_members_decide_alike_and_show_prefixes_of_their_own_logs(recorded):
    _, run, _ = recorded
    one = told(LiveRequest(mode="multi-primary"), 1, 11, run)
    for name in MYSQL_GROUP.properties:
        assert property_named(name).violations(one.history) == (), name
    reads = {name: len(seen) for name, seen in run.seen.snapshots.items()}
    print(f"live: {reads} snapshots, {one.evidence['unknown_gtids']} unknown GTIDs")
    for name in ("final_state_is_the_sources", "position_covers_all_that_is_applied"):
        assert verdict_of(one.history, property_named(name)) is Verdict.HOLDS, name


def test_every_log_reads_as_the_servers_own_tool_prints_it(recorded):
    assert recorded[2] >= 3 * 3_000


SPECIFIED = "dddddddd-dddd-4ddd-8ddd-dddddddddddd:1"


def test_ab_members_part_over_a_specified_gtid_that_one_of_them_has_not_executed():
    """Line (ab) of docs/wl8440-review.md, as the reference tells it in test_wl8440_review.

    Both sessions set one GTID. The first transaction cannot be applied where the second session
    owns it, so the second is certified there and refused by the members that have executed the
    first. All stay online and report equal executed sets.
    """
    try:
        installation = find_mysql()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    if installation.version < (8, 4):
        pytest.skip("servers to 8.3 refuse the second transaction everywhere")
    with ServerRoom() as room:
        group = GroupReplication.provision(room, installation, is_multi_primary=True)
        group.bootstrap()
        first, second, third = group.members
        first.run(["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"])
        group.wait_until_equal()
        with second.connect() as owner:
            cursor = owner.cursor()
            cursor.execute(f"SET GTID_NEXT='{SPECIFIED}'")
            cursor.execute("BEGIN")
            cursor.execute("INSERT INTO d.t VALUES (2)")
            first.run(
                [f"SET GTID_NEXT='{SPECIFIED}'", "BEGIN", "INSERT INTO d.t VALUES (1)", "COMMIT"]
            )
            group.wait_until_equal([first, third])
            cursor.execute("COMMIT")
        sets = group.wait_until_equal()
        assert SPECIFIED in sets
        rows = [member.query("SELECT id FROM d.t") for member in group.members]
        states = {view.state for member in group.members for view in group.view(member)}
    print(f"live: {installation.version_text}: rows {rows}, all {states}, executed {sets!r}")
    assert rows == [[(1,)], [(2,)], [(1,)]]
    assert states == {"ONLINE"}


def test_member_that_is_cut_off_confirms_nothing_and_comes_back_whole():
    try:
        installation = find_mysql()
        open_sniffer().close()
        PrivateNetwork(2).close()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    with ServerRoom() as room:
        run = record_group_run(
            room, installation, transactions=600, collections=0, seed=5, departure=CUT
        )
    print(f"live: {run.notes}, {run.outcomes}")
    request = LiveRequest(mode="multi-primary", fault=CUT)
    result = new_result(MYSQL_GROUP, request)
    take_round(result, told(request, 1, 5, run))
    assert {name: answer.why() for name, answer in result.answers.items() if answer.broken} == {}
    for name in ("what_a_group_confirmed_survives", "members_cut_off_confirm_nothing"):
        assert result.answers[name].held, name
    assert all(len(sums) == 1 for sums in run.checksums.values())
