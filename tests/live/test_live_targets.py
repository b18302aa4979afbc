"""Live targets from end to end: servers start, are struck, are judged, and are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from paraply.adapters.live.galera.lab import find_provider
from paraply.adapters.servers import find_mariadb
from paraply.adapters.servers.network import PrivateNetwork
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.live.runs import PATIENCE_S, broken, documented, held, run

pytestmark = [pytest.mark.live(minutes=9), pytest.mark.long(each=1, by_row=True)]


@pytest.fixture(autouse=True, scope="module")
def mariadb():
    try:
        found = find_mariadb()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {found.version_text}")
    return found


@pytest.mark.long(each=1, by_row=True)
@pytest.mark.parametrize("mode", ["optimistic", "conservative", "aggressive", "minimal"])
def test_healthy_mariadb_pair_breaks_nothing(mode):
    result = run("mariadb", mode)
    assert not broken(result)
    # Whether a reader comes in the middle of the load takes luck.
    assert held(result) >= {"no_event_is_lost", "replica_logs_domains_in_order"}
    assert result.evidence["touches"]


@pytest.mark.long(each=1, by_row=True)
def test_domains_and_replicas_break_nothing():
    result = run("mariadb", "optimistic", domains=2, replicas=2)
    assert not broken(result)
    assert held(result) >= {"no_event_is_lost", "replica_logs_domains_in_order"}


@pytest.mark.parametrize(
    "fault",
    [
        "kill-replica", "kill-source", "kill-waiter", "stop-start", "hold-rows", "cut-relay-log",
        "cut-network",
    ],
)  # fmt: skip
def test_struck_mariadb_pair_breaks_nothing(fault):
    result = run("mariadb", "optimistic", fault)
    # A kill at the wrong moment leaves the server's own position behind its log.
    assert broken(result) <= documented("mariadb", "optimistic", fault)
    assert broken(result) or "no_event_is_lost" in held(result)


def test_forged_commit_ids_stop_a_conservative_replica():
    stopped = "sound_log_never_fails"
    result = run("mariadb", "conservative", "forged-commit-ids", until={stopped})
    assert stopped in broken(result)


def test_forged_commit_ids_that_idempotent_mode_hides_are_found():
    # Whether two attempts are caught in the act takes luck; what is wrong in the end stays.
    wrong = "tables_end_as_the_sources"
    result = run("mariadb", "conservative", "forged-idempotent", until={wrong}, transactions=800)
    assert wrong in broken(result)
    assert broken(result) <= set(result.answers) - {"replica_logs_domains_in_order"}


def test_source_that_lost_the_end_of_its_log_is_followed_past_new_transactions():
    mode, fault = "conservative", "cut-source-log"
    result = run("mariadb", mode, fault, transactions=1_500)
    assert broken(result) <= documented("mariadb", mode, fault)
    # What the replica makes of half an event, if it is asked to read one, takes luck.
    assert broken(result) & {"position_covers_only_what_is_applied", "sound_log_never_fails"}


def test_semi_sync_source_that_is_lost_takes_nothing_seen_with_it():
    result = run("mariadb-semisync", "AFTER_SYNC")
    assert not broken(result)
    assert held(result) >= {"what_was_seen_survives", "what_was_confirmed_survives"}


@pytest.mark.long(each=1, by_row=True)
@pytest.mark.parametrize(
    ("mode", "fault"),
    [
        ("AFTER_SYNC", "restart-source"),
        ("AFTER_SYNC", "empty-replica"),
        ("AFTER_SYNC", "discard-relay-log"),
        ("AFTER_SYNC", "kill-query"),
        ("AFTER_COMMIT", "switch-off"),
    ],
)
def test_semi_sync_ways_come_out_as_documented(mode, fault):
    result = run("mariadb-semisync", mode, fault)
    assert broken(result) == documented("mariadb-semisync", mode, fault)
    assert result.evidence["seen_and_lost"] == 1


@pytest.mark.long(each=1, by_row=True)
@pytest.mark.parametrize("fault", ["none", "kill-member"])
def test_galera_members_agree(fault):
    try:
        find_provider()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    # Whether each start can be placed among the commits of a busy machine is left open.
    occurs = (
        "members_decide_alike", "write_sets_depend_on_earlier_writers",
        "senders_saw_writers_of_other_members",
    )  # fmt: skip
    result = run("galera", "multi-master", fault, until_held=occurs)
    assert not broken(result)
    assert held(result) >= set(occurs)
    assert result.evidence["unknown_gtids"] == 0
    assert not any("does not go with its binary log" in note for note in result.notes)
    assert result.evidence["overlapping_windows"]
    assert result.evidence["steps_followed_by_commit_order"]
    assert result.evidence["steps_followed_by_last_committed"]


@pytest.mark.long(each=1, by_row=True)
@pytest.mark.parametrize("fault", ["cut-member", "cut-member-no-quorum"])
def test_galera_member_that_is_cut_off_confirms_nothing_unless_told_to(fault):
    try:
        find_provider()
        PrivateNetwork(2).close()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    result = run("galera", "multi-master", fault, transactions=600)
    assert broken(result) == documented("galera", "multi-master", fault)
    for name in ("what_a_group_confirmed_survives", "members_cut_off_confirm_nothing"):
        assert result.answers[name].verdict is not Verdict.UNKNOWN


def is_server(process, folder):
    try:
        words = process.cmdline()
    except psutil.Error:  # It has ended meanwhile.
        return False
    return any(f"--datadir={folder}" in word for word in words) and any(
        word.startswith("--port=") for word in words
    )


@pytest.fixture
def folder_for_all():
    """Return a folder that the servers' account may enter, which pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.mark.long(each=1, by_row=True)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_ended_command_leaves_no_server_and_no_folder(number, folder_for_all):
    tmp_path = folder_for_all
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "paraply", "live", "mariadb", "--out", str(tmp_path / "f")]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + PATIENCE_S
        children = []
        while len(children) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            below = psutil.Process(process.pid).children(recursive=True)
            children = [one for one in below if is_server(one, tmp_path)]
        assert len(children) == 2, "source and replica never ran"
        process.send_signal(number)
        process.wait(PATIENCE_S)
    _, alive = psutil.wait_procs(children, timeout=PATIENCE_S)
    assert not alive
    # Who is killed cannot wait for it.
    patience_s = PATIENCE_S if number == signal.SIGKILL else 0
    deadline = time.monotonic() + patience_s
    while list(tmp_path.glob("paraply-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(tmp_path.glob("paraply-*"))
