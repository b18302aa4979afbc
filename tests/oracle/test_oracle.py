"""A short run of the oracle with a fresh seed, and its parts without a server."""

from __future__ import annotations

import json
import os
import random
import re
import secrets
import warnings
from dataclasses import replace

import pytest

from paraply.errors import ENGINE_UNAVAILABLE
from paraply.vocabulary.audit_result import AuditResult, ReplayResult
from paraply.vocabulary.errors import ParaplyError
from tests.live.runs import installed
from tests.oracle.generator import FAMILIES, Case, Transaction, draw_case
from tests.oracle.judge import Answer, by_both, engine_differences
from tests.oracle.run import FALSE_ALARMS_MAX, FLAVOURS, Tally, run
from tests.oracle.shrinking import shrink

PAIRS = int(os.environ.get("PARAPLY_ORACLE_PAIRS", "1000"))
SECONDS = float(os.environ.get("PARAPLY_ORACLE_SECONDS", "1800"))
"""For a slow machine; a tenth is enough for most."""

SHARES = {"mariadb-11.8": 5}
"""It differs from MariaDB in few places, and the live tier has a quarter of an hour."""


@pytest.mark.live(minutes=20)
@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_audit_agrees_with_the_server(flavour, capsys):
    installed(FLAVOURS[flavour])
    seed = secrets.randbits(32)
    replay = f"replay: python -m tests.oracle --flavour {flavour} --seed {seed}"
    with capsys.disabled():
        print(f"\n{replay}")
        wanted = PAIRS // SHARES.get(flavour, 1)
        tally = run(flavour, seed, pairs=wanted, seconds=SECONDS)
        print(tally.table())
    # Workers of xdist print nothing, but the summary shows their warnings.
    warnings.warn(f"{replay}\n{tally.table()}", stacklevel=1)
    assert tally.pairs >= wanted, f"time ended: {replay}"
    assert tally.too_often_unknown() == {}
    assert {"conflict", "commute"} <= tally.truth.keys()
    wrong = [d for d in tally.disagreements if d["kind"] != "false alarm"]
    # A worker of xdist prints nothing but what it asserts.
    assert not wrong, "\n".join([replay, *(json.dumps(one, default=str) for one in wrong)])
    # A few hundred pairs cannot show a share of one in a thousand.
    assert tally.count("false alarm") <= max(3, FALSE_ALARMS_MAX * tally.pairs)


FATAL = Case(
    "keys",
    (
        "CREATE TABLE t0 (c varchar(4) CHARACTER SET latin1 COLLATE latin1_german2_ci NOT NULL, "
        "PRIMARY KEY (c(1)), KEY (c)) ENGINE=InnoDB",
    ),
    ("INSERT INTO t0 VALUES ('ss')", "INSERT INTO t0 VALUES ('ß')"),
    (),
)
FATAL_FOR = {"MariaDB 10.11.19", "MariaDB 11.8.9", "MySQL 9.7.4"}
"""InnoDB ends these servers: the prefixes differ by bytes, and the collation expands them."""


@pytest.mark.live
@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_run_outlives_a_server_that_a_case_ends(flavour, monkeypatch):
    version = installed(FLAVOURS[flavour]).version_text
    if version not in FATAL_FOR:
        pytest.skip(f"{version} was not seen to end by this case")
    monkeypatch.setattr(
        "tests.oracle.run.draw_case",
        lambda seed, number, *_, **__: draw_case(seed, number, flavour) if number else FATAL,
    )
    tally = run(flavour, 1, pairs=1, seconds=120)
    assert tally.crashes == [0]
    assert tally.pairs >= 1


@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_cases_come_from_the_seed_alone_and_families_take_turns(flavour):
    cases = [draw_case(7, number, flavour) for number in range(10)]
    assert cases == [draw_case(7, number, flavour) for number in range(10)]
    assert [case.family for case in cases] == [*FAMILIES, *FAMILIES]
    assert cases != [draw_case(8, number, flavour) for number in range(10)]


@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_texts_that_differ_by_a_no_break_space_meet_in_a_column(flavour):
    cases = (draw_case(7, number, flavour, families=("types",)) for number in range(300))
    assert any({"'e'", "'e\u00a0'"} <= written_texts(case) for case in cases)


@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_odd_tables_are_drawn_for_the_servers_that_have_them(flavour):
    cases = [draw_case(7, number, flavour) for number in range(2_000)]
    setup = "\n".join(sql for case in cases for sql in case.setup)
    steps = "\n".join(sql for case in cases for changes, *_ in case.steps for sql in changes)
    of_mariadb = ("AS (lower(", "WITH SYSTEM VERSIONING", "CREATE SEQUENCE")
    of_mysql = ("UNIQUE f0 ((",)
    drawn, absent = (of_mysql, of_mariadb) if flavour == "mysql" else (of_mariadb, of_mysql)
    assert all(text in setup for text in (*drawn, "PARTITION BY RANGE", "PARTITION BY HASH"))
    assert not any(text in setup for text in absent)
    assert "TRUNCATE PARTITION p0" in steps


def written_texts(case):
    """Return the quoted texts that a case writes."""
    pairs = [one for _, *pair in case.steps for one in pair]
    statements = [*case.data, *(sql for one in pairs for sql in one.statements)]
    return set(re.findall(r"'[^']*'", " ".join(statements)))


def test_shrinking_keeps_only_what_the_disagreement_needs():
    case = draw_case(3, 2, "mariadb")
    _, one, two = case.steps[0]
    needed = random.Random(1).choice(one.statements)

    def still(smaller):
        return any(needed in pair[0].statements for pair in [step[1:] for step in smaller.steps])

    found = shrink(replace(case, image="MINIMAL"), still, 60)
    assert found.setup == found.data == ()
    assert found.image == "FULL"
    assert [(len(s[0]), s[1]) for s in found.steps] == [(0, Transaction((needed,)))]
    assert len(found.steps[0][2].statements) == 1
    assert two.checked or found.steps[0][2].checked


@pytest.mark.parametrize(
    ("compiled", "how", "disagreement"),
    [
        (AuditResult(engine="compiled"), "whole", ""),
        (AuditResult(engine="compiled", left_rows=2, left_tables={"d.t": "why"}), "left", ""),
        (AuditResult(engine="compiled", may_wait=1), "whole", "engines"),
        (ParaplyError(ENGINE_UNAVAILABLE, engine="compiled", reason="rows"), "refused", ""),
    ],
)
def test_engines_that_differ_are_a_disagreement_of_its_own(compiled, how, disagreement):
    answer = by_both(Answer("created", "holds"), AuditResult(), compiled)
    assert (answer.compiled, answer.disagreement) == (how, disagreement)
    assert bool(answer.reasons) is bool(disagreement)
    # What the server disproves is the worse of the two.
    wrong = Answer("created", "holds", disagreement="unsound")
    assert by_both(wrong, AuditResult(), compiled).disagreement == "unsound"


def test_engines_that_meet_tables_in_another_order_agree():
    readable, compiled, other = (
        AuditResult(replay=ReplayResult(tables=dict(tables)))
        for tables in ((("d.a", 1), ("d.b", 2)), (("d.b", 2), ("d.a", 1)), (("d.b", 1), ("d.a", 1)))
    )
    assert not list(engine_differences(readable, compiled))
    assert [one.split(":")[0] for one in engine_differences(readable, other)] == ["replay"]


def test_share_of_unknown_has_a_slack_that_falls_with_the_cases():
    tally = Tally("mysql", 5, cases=100, pairs=300)
    tally.answers["created | commute | unknown"] = 54
    tally.answers["created | commute | holds"] = 246
    tally.answers["late | commute | unknown"] = 300
    assert tally.too_often_unknown() == {}
    tally.cases = 1_000
    assert tally.too_often_unknown() == {"created": 0.18}


def test_tally_goes_on_from_its_file(tmp_path):
    tally = Tally("mysql", 5, cases=3, pairs=9)
    tally.answers["late | conflict | unknown"] += 4
    tally.answers["late | commute | holds"] += 1
    tally.disagreements.append({"kind": "unsound", "knowledge": "late"})
    tally.save(tmp_path / "tally.json")
    again = Tally.resumed(tmp_path / "tally.json", "mysql", 0)
    assert again == tally
    assert again.unknown_share("late") == 0.8
    assert again.count("unsound") == 1
    assert "late" in again.table()
