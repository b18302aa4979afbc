"""Real servers and the reference say the same of GTIDs, step by step over the same stories."""

from __future__ import annotations

import os
import re
import subprocess
import time
from random import Random

import pytest

from paraply.adapters.servers import (
    ServerRoom,
    find_mariadb,
    find_mysql,
    replicate,
    wait_until_applied,
)
from paraply.reference_impl.mariadb_gtid.binlog_files import Logged, Refused
from paraply.reference_impl.mariadb_gtid.servers import Server
from paraply.reference_impl.mariadb_gtid.topology_subject import OWN_DOMAIN_STEP
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from paraply.vocabulary.mariadb_gtid import MariadbGtid, MariadbPosition, parse_position

pytestmark = pytest.mark.live

STEPS = 30
TABLE = ("CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY)")
VARIABLES = ("gtid_binlog_pos", "gtid_current_pos", "gtid_binlog_state")


def installation(find):
    try:
        found = find()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {found.version_text}")
    return found


@pytest.fixture
def mariadb():
    return installation(find_mariadb)


@pytest.fixture
def mysql():
    return installation(find_mysql)


class Twins:
    """A real MariaDB server and the reference, which are told the same."""

    def __init__(self, real, *, is_strict):
        self.real = real
        self.reference = Server(real.server_id, is_strict=is_strict)
        self.logged = 0
        real.run(["SET sql_log_bin=0", *TABLE])

    def write(self, domain, server, sequence):
        """Commit one row in a session with these variables; None leaves the number to the server.

        Returns whether the real server took it.
        """
        gtid = MariadbGtid(domain, server, sequence or self.reference.state.next_sequence(domain))
        is_refused = self.reference.refuses(gtid)
        if not is_refused:
            self.logged += 1
            self.reference.log(Logged(self.logged, gtid))
        settings = [f"SET gtid_domain_id={domain}", f"SET server_id={server}"]
        settings += [f"SET gtid_seq_no={sequence}"] if sequence else []
        insert = [*settings, "INSERT INTO d.t VALUES ()"]
        if is_refused:
            with pytest.raises(ParaplyError, match=r"\(1950,"):
                self.real.run(insert)
        else:
            self.real.run(insert)
        return not is_refused

    def rotate(self):
        self.real.query("FLUSH BINARY LOGS")
        self.reference.binlog.rotate(self.reference.state)

    def crash(self):
        self.real.kill()
        self.real.start()
        self.reference.restart(None)
        self.reference.binlog.rotate(self.reference.state)

    def agree(self):
        """Compare the position variables."""
        shown = dict(
            zip(VARIABLES, self.real.query("SELECT @@" + ", @@".join(VARIABLES))[0], strict=True)
        )
        state = self.reference.state
        assert shown["gtid_binlog_pos"] == str(state.position)
        assert shown["gtid_current_pos"] == str(self.reference.current_position)
        # The server prints the servers of a domain in the order of a hash, but for the last.
        assert sorted(shown["gtid_binlog_state"].split(",")) == sorted(str(state).split(","))


@pytest.mark.parametrize("is_strict", [True, False], ids=["strict", "not strict"])
def test_server_and_reference_number_refuse_and_recover_alike(mariadb, is_strict):
    random = Random(20130104)
    refused = crashes = 0
    with ServerRoom() as room:
        twins = Twins(room.start(mariadb, options=[f"--gtid-strict-mode={int(is_strict)}"]),
                      is_strict=is_strict)  # fmt: skip
        for number in range(STEPS):
            match random.choice("wwwwwww" + "rc"):
                case "w":
                    domain, server = random.choice((0, 0, 3)), random.choice((1, 1, 7))
                    near = twins.reference.state.next_sequence(domain)
                    sequence = random.choice((None, None, near + 3, max(1, near - 2)))
                    refused += not twins.write(domain, server, sequence)
                case "r":
                    twins.rotate()
                case "c":
                    crashes += 1
                    twins.crash()
            twins.agree()
            print(number, twins.reference.state)
    assert crashes >= 2
    assert (refused > 3) is is_strict


def dumped(real, asked):
    """Return the GTIDs that the server sends from a position on, or its refusal."""
    command = [
        *real.installation.binlog_command, "--no-defaults", "--read-from-remote-server",
        "--host=127.0.0.1", f"--port={real.port}", "--user=reader", "--skip-gtid-strict-mode",
        f"--start-position={asked}", "--to-last-log", "bin.000001",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "is not in the master's binlog" in done.stderr:
        return "refused"
    if "have been purged" in done.stderr:
        return "purged"
    return " ".join(re.findall(r"\sGTID (\d+-\d+-\d+)", done.stdout))


def test_server_and_reference_start_at_the_same_group_of_the_log(mariadb):
    with ServerRoom() as room:
        twins = Twins(room.start(mariadb), is_strict=True)
        twins.real.run(["SET sql_log_bin=0", "CREATE USER reader@'127.0.0.1'",
                        "GRANT ALL ON *.* TO reader@'127.0.0.1'"])  # fmt: skip
        for word in ("0", "3", "0", "|", "0*", "3", "|", "3", "0", "0*", "|", "0", "3"):
            if word == "|":
                twins.rotate()
            else:
                domain = int(word[0])
                hole = twins.reference.state.next_sequence(domain) + 2
                twins.write(domain, 1, hole if word.endswith("*") else None)
        logged = [str(group.gtid) for group in twins.reference.binlog.groups]
        asked = [f"{a},{b}" for a in logged if a[0] == "0" for b in logged if b[0] == "3"]
        asked += [*logged, "0-1-5", "0-1-99", "0-9-1,3-1-1", "0-1-1,3-1-1,7-1-1", "7-1-1"]
        agreed = purged = 0
        for position in [*asked, "PURGE", *asked]:
            if position == "PURGE":
                second = twins.real.query("SHOW BINARY LOGS")[1][0]
                twins.real.query(f"PURGE BINARY LOGS TO '{second}'")
                twins.reference.binlog.first = 1
                continue
            binlog, state = twins.reference.binlog, twins.reference.state
            start = binlog.find_start(parse_position(position), state, MariadbPosition())
            sent = []
            while not isinstance(start, Refused) and (group := binlog.read(start)) is not None:
                if not binlog.is_skipped(group, start):
                    sent.append(str(group.gtid))
            expected = " ".join(sent)
            if isinstance(start, Refused):
                expected = "purged" if "purged" in start.reason else "refused"
            purged += expected == "purged"
            assert dumped(twins.real, position) == expected, position
            agreed += 1
        print(f"{agreed} positions")
    assert agreed >= 50
    assert purged >= 5


def wait_until(server, query, expected):
    """Return once a query of one value gives what is expected; a smaller GTID has no wait."""
    deadline = time.monotonic() + 120
    shown = None
    while time.monotonic() < deadline:
        shown = server.query(query)[0][0]
        if shown == expected:
            return
        time.sleep(0.02)
    raise AssertionError(f"{query}: {shown}, not {expected}")


def test_replica_without_strict_mode_goes_back_to_the_smaller_number(mariadb):
    options = ["--gtid-strict-mode=0"]
    with ServerRoom() as room:
        source, replica = (room.start(mariadb, options=options) for _ in range(2))
        twins = Twins(source, is_strict=False)
        replica.run([*TABLE, "RESET MASTER"])
        position = MariadbPosition()
        replicate(source, replica)
        for sequence in (100, None, 50, None):
            twins.write(0, 1, sequence)
        for group in twins.reference.binlog.groups:
            position = position.advance(group.gtid)
        wait_until_applied(source, replica)
        shown = replica.query("SELECT @@gtid_slave_pos")[0][0]
        assert shown == str(position) == "0-1-102"
        twins.write(0, 1, 60)
        # The variable follows the commit.
        wait_until(replica, "SELECT @@gtid_slave_pos", "0-1-60")
        assert replica.query("SELECT COUNT(*) FROM d.t") == [(twins.logged,)]
        rows = replica.query("SELECT seq_no FROM mysql.gtid_slave_pos ORDER BY sub_id DESC LIMIT 1")
        assert rows == [(60,)]


def test_filtered_domain_moves_the_position_and_leaves_no_trace_in_the_log(mariadb):
    with ServerRoom() as room:
        source, replica = (room.start(mariadb) for _ in range(2))
        twins = Twins(source, is_strict=True)
        replica.run(["SET sql_log_bin=0", *TABLE])
        replicate(source, replica)
        replica.run(["STOP SLAVE", "CHANGE MASTER TO IGNORE_DOMAIN_IDS=(3)", "START SLAVE"])
        for domain in (0, 3, 0, 3):
            twins.write(domain, 1, None)
        wait_until(replica, "SELECT @@gtid_slave_pos", "0-1-2,3-1-2")
        assert replica.query("SELECT @@gtid_binlog_pos") == [("0-1-2",)]
        assert replica.query("SELECT COUNT(*) FROM d.t") == [(2,)]


def test_outside_applier_keeps_the_gtids_of_every_server_and_domain(mariadb):
    with ServerRoom() as room:
        twins = Twins(room.start(mariadb), is_strict=True)
        for domain, server in ((0, 1), (3, 1), (0, 7), (0, 1), (OWN_DOMAIN_STEP, 9)):
            twins.write(domain, server, None)
        restored = room.start(mariadb)
        restored.run([*TABLE, "RESET MASTER"])
        files = [str(path) for path in twins.real.binary_logs()]
        statements = twins.real.tool_output(mariadb.binlog_command, *files)
        subprocess.run(
            [*mariadb.tool("mariadb"), "--no-defaults", f"--socket={restored.socket}", "-uroot"],
            input=statements, check=True, timeout=60,
            env={**os.environ, "MYSQL_PWD": restored.password},
        )  # fmt: skip
        both = [
            sorted(str(server.query("SELECT @@gtid_binlog_state")[0][0]).split(","))
            for server in (twins.real, restored)
        ]
        assert both[0] == both[1] == sorted(str(twins.reference.state).split(","))
        assert restored.query("SELECT @@gtid_slave_pos") == [("",)]


def executed_by(server):
    return parse_gtid_set(server.query("SELECT @@global.gtid_executed")[0][0])


def test_mysql_puts_empty_transactions_in_the_place_of_filtered_ones(mysql):
    with ServerRoom() as room:
        source = room.start(mysql)
        replica = room.start(mysql, options=["--replicate-ignore-db=db1"])
        replicate(source, replica)
        for schema in ("db0", "db1"):
            source.run([f"CREATE DATABASE {schema}", f"USE {schema}", "CREATE TABLE t (a INT)"])
        for schema in ("db0", "db1", "db1", "db0"):
            source.run([f"USE {schema}", "INSERT INTO t VALUES (1)"])
        wait_until_applied(source, replica)
        executed = executed_by(replica)
        assert executed == executed_by(source)
        assert executed.interval_count == 1
        assert replica.query("SELECT COUNT(*) FROM db0.t") == [(2,)]
        assert replica.query("SHOW DATABASES LIKE 'db1'") == []
        # The replica takes a hole over from its source.
        uuid = source.query("SELECT @@server_uuid")[0][0]
        last = executed.count
        source.run([f"SET gtid_next='{uuid}:{last + 3}'", "INSERT INTO db0.t VALUES (2)",
                    "SET gtid_next='automatic'"])  # fmt: skip
        wait_until_applied(source, replica)
        assert executed_by(replica).interval_count == 2
        # The server whose numbers they are fills it; the text says that it stays for ever.
        for _ in range(2):
            source.query("INSERT INTO db0.t VALUES (3)")
        wait_until_applied(source, replica)
        assert executed_by(replica).interval_count == 1
        assert executed_by(replica).count == last + 3
