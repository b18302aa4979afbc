"""The judge of programs on a wire, against appliers whose faults are known."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest

from paraply.conforming.wire.judging import FINDINGS_MAX, judge_logs
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.builders.binlog_writer import BinlogWriter
from tests.verifying.small_logs import Txn, account, run
from tests.verifying.workloads import START, batches, by_key, dependency_order, inverted, transfers

SEEDS = range(6)


@pytest.fixture
def judged(tmp_path):
    def judge(source, target, *, required="atomic", compacts=False):
        mine = run(source, tmp_path / "source.000001", START)
        theirs = run(target, tmp_path / "target.000001", START)
        return judge_logs([mine], [theirs], required=required, compacts=compacts)

    return judge


def named(number: int) -> str:
    return rf"0-1-{number} at \w+\.000001:\d+"


def only(pattern: str, verdict) -> None:
    assert verdict.verdict is Verdict.VIOLATED
    assert not verdict.kind
    assert all(re.fullmatch(pattern, one) for one in verdict.findings), verdict
    assert verdict.findings


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("seed", SEEDS)
def test_appliers_without_fault_hold_at_their_own_level(judged, seed):
    source = transfers(30, seed)
    for target, level in [
        (source, "prefix"),
        (dependency_order(source, 6, seed), "atomic"),
        (by_key(source, 3, seed), "per-key"),
    ]:
        found = judged(source, target, required=level)
        assert (found.verdict, found.findings, found.kind) == (Verdict.HOLDS, (), "")
    assert judged(source, batches(source, 3), required="batches", compacts=True).level == "batches"


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("seed", SEEDS)
def test_lost_transaction_is_found_though_all_of_its_rows_are_written_later(judged, seed):
    source = transfers(40, seed)
    at = Random(seed).randrange(10)
    rows = {key[1] for key in source[at].writes}
    found = judged(source, source[:at] + source[at + 1 :])
    only(
        rf"lost: the target's log never contains the change of {named(at + 1)} "
        r"\(shop\.account row \d+\)",
        found,
    )
    assert {int(re.search(r"row (\d+)\)", one)[1]) for one in found.findings} == rows
    alone = judged(source, source[:at] + source[at + 1 :], required="per-key", compacts=True)
    assert (alone.verdict, alone.level) == (Verdict.HOLDS, found.level)


@pytest.mark.parametrize("seed", SEEDS)
def test_transactions_of_a_common_row_in_the_wrong_order_are_reordered(judged, seed):
    source = transfers(30, seed)
    target = inverted(source, seed)
    moved = next(at for at, (a, b) in enumerate(zip(source, target, strict=True)) if a is not b)
    later = target[moved].name
    only(
        rf"reordered: {named(later)} of the target applies {named(later)} before "
        rf"{named(source[moved].name)} \(shop\.account row \d+\)",
        judged(source, target),
    )


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("seed", SEEDS)
def test_transaction_applied_again_after_later_ones_is_repeated(judged, seed):
    source = transfers(40, seed)
    at = Random(seed).randrange(10)
    target = [*source, replace(source[at], name=99)]
    only(
        rf"repeated: {named(99)} of the target applies {named(at + 1)} again "
        r"\(shop\.account row \d+\)",
        judged(source, target),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_torn_transactions_are_faults_only_where_they_must_be_whole(judged, seed):
    source = transfers(4, seed)
    second = source[1]
    first, other = (Txn({key: row}, name=50 + key[1]) for key, row in second.writes.items())
    target = [source[0], first, other, *source[2:]]
    only(
        rf"torn: {named(2)} is in two target transactions, {named(first.name)} and "
        rf"{named(other.name)} \(shop\.account row \d+\)",
        judged(source, target),
    )
    assert judged(source, target, required="per-key").verdict is Verdict.HOLDS


def test_value_that_the_source_never_had_is_unknown(judged):
    source = [Txn(account(1, 5), name=1), Txn(account(1, 6), name=2)]
    target = [source[0], Txn(account(2, 7), name=8), source[1]]
    only(
        rf"unknown version: {named(8)} of the target writes a row that the source never had "
        r"\(shop\.account row 2\)",
        judged(source, target),
    )


def test_only_the_first_faults_are_told(judged):
    found = judged(transfers(40, 1, width=5), transfers(40, 1, width=5)[::-1])
    assert len(found.findings) == FINDINGS_MAX


def test_states_are_judged_where_versions_are_right(judged):
    source = transfers(30, 1)
    found = judged(source, dependency_order(source, 6, 1), required="prefix")
    assert found.verdict is Verdict.VIOLATED
    assert found.kind == "the target's log reaches the level atomic, not prefix"
    assert found.findings[-1] == found.kind
    assert len(found.findings) > 1


def test_target_without_rows_has_lost_all(judged, tmp_path):
    found = judged(transfers(3, 1), [])
    assert found.verdict is Verdict.VIOLATED
    assert found.findings == ("lost: the target's log contains no row",)
    empty = BinlogWriter(server_version="10.11.19-MariaDB-log").save(tmp_path / "source.000002")
    with pytest.raises(ParaplyError):
        judge_logs([tmp_path / "none.000001"], [empty], required="atomic", compacts=False)
