"""Real groups, recorded once, decide as the certifier of the reference does: every transaction.

The records hold what was delivered to three members of a running group, and the GTIDs and
timestamps that they wrote into their logs; ``python -m ci.record_group_trace`` makes new ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.group.recorded import compare_with_reference
from paraply.registries import mutant_named
from paraply.vocabulary.group_trace import (
    ExecutedSetDelivered,
    InfoDonated,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.group_trace_jsonl import read_group_trace
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET

FOLDER = Path(__file__).parent.parent / "data" / "group_replication"
MULTI_PRIMARY = "mysql-9.7.4-multi-primary.jsonl.gz"
SINGLE_PRIMARY = "mysql-9.7.4-single-primary.jsonl.gz"
JOINER_COLLECTS = "mysql-9.7.4-joiner-collects-first.jsonl.gz"
"""A member is killed and comes back; then the set that another reports has not grown since."""
DIALECT = "mysql_9_7"


@cache
def recorded(name=MULTI_PRIMARY):
    return read_group_trace(FOLDER / name)


@cache
def beginning():
    """The steps until after the first member that left, with everybody's first decisions."""
    trace = recorded()
    left = next(
        n for n, step in enumerate(trace.steps) if isinstance(step, ViewInstalled) and step.left
    )
    return replace(trace, steps=trace.steps[: left + 200])


def with_step(trace, number, **changes):
    steps = list(trace.steps)
    steps[number] = replace(steps[number], **changes)
    return replace(trace, steps=tuple(steps))


def chosen(trace, wanted):
    return next(
        n
        for n, step in enumerate(trace.steps)
        if n > 300 and isinstance(step, TransactionDelivered) and wanted(step)
    )


def differences(trace, dialect=DIALECT, compare=compare_with_reference):
    return {d.what for d in compare(trace, dialect).differences}


@pytest.mark.long
def test_whole_run_is_decided_as_the_reference_decides():
    trace = recorded()
    compared = compare_with_reference(trace, DIALECT)
    assert [str(d) for d in compared.differences] == []
    assert compared.remote_transactions >= 10_000
    assert compared.local_transactions >= 5_000


@pytest.mark.long
def test_run_holds_everything_that_could_make_a_difference():
    trace = recorded()
    compared = compare_with_reference(trace, DIALECT)
    assert len(trace.transactions) >= 5_000
    assert compared.refusals >= 500
    assert compared.collections == 3  # one round, seen at each member
    assert compared.collections_on_join >= 2
    assert compared.donated_items >= 10
    views = [step for step in trace.steps if isinstance(step, ViewInstalled)]
    assert [len(view.members) for view in views] == [2, 3, 2, 3]
    assert any(step.is_create_select for step in trace.transactions)
    assert any(step.is_empty for step in trace.transactions)
    assert any(not step.items and not step.is_empty for step in trace.transactions)
    assert any(len(set(step.items)) < len(step.items) for step in trace.transactions)
    assert {step.origin for step in trace.transactions} == set(trace.members)


@pytest.mark.long
def test_group_with_one_primary_numbers_as_the_reference_numbers():
    trace = recorded(SINGLE_PRIMARY)
    compared = compare_with_reference(trace, DIALECT)
    assert [str(d) for d in compared.differences] == []
    assert {step.origin for step in trace.transactions} == {trace.members[0]}
    assert compared.remote_transactions >= 3_500
    assert compared.refusals == 0
    assert compared.collections == 1
    assert compared.collections_on_join >= 2


def test_ae_joiner_collects_what_the_others_had_found_stable_when_it_joined():
    trace = recorded(JOINER_COLLECTS)
    assert [str(d) for d in compare_with_reference(trace, DIALECT).differences] == []
    back = max(n for n, step in enumerate(trace.steps) if isinstance(step, ViewInstalled))
    view = trace.steps[back]
    first = next(s for s in trace.steps[back:] if isinstance(s, ExecutedSetDelivered))
    assert first.executed == view.executed[first.sender]
    (joiner,) = view.joined
    reports = [n for n, s in enumerate(trace.steps) if isinstance(s, ExecutedSetDelivered)]
    all_told = next(n for n in reports if trace.steps[n].sender == joiner)
    given = next(
        step.decided[joiner] for step in trace.steps[all_told:]
        if isinstance(step, TransactionDelivered) and joiner in step.decided
    )  # fmt: skip
    # A window was opened: this transaction waits for all before it.
    assert given.last_committed == given.sequence_number - 1 > 1


def test_joiner_that_knew_what_is_stable_would_number_otherwise(monkeypatch):
    knows = replace(DIALECTS[DIALECT], hands_on_stable_set=True)
    monkeypatch.setitem(DIALECTS, DIALECT, knows)
    assert differences(recorded(JOINER_COLLECTS)) == {"timestamp"}


@pytest.mark.long
def test_conflicts_are_looked_for_only_with_several_primaries():
    as_if_multi = replace(recorded(SINGLE_PRIMARY), is_multi_primary=True)
    assert differences(as_if_multi) == set()  # one primary's transactions saw each other
    as_if_single = replace(beginning(), is_multi_primary=False)
    assert "verdict" in differences(as_if_single)


@pytest.mark.parametrize("dialect", ["wl8440", "wl8440_literal", "mysql_8_0", "mysql_8_4"])
def test_rules_of_another_version_are_noticed(dialect):
    assert differences(beginning(), dialect) >= {"timestamp"}


@pytest.mark.long
def test_burnt_numbers_of_older_servers_are_noticed_where_garbage_was_collected():
    without_empty = replace(
        recorded(),
        steps=tuple(
            replace(step, is_empty=False, items=("e",)) if getattr(step, "is_empty", 0) else step
            for step in recorded().steps
        ),
    )
    assert "timestamp" in differences(without_empty, "mysql_8_3")


@pytest.mark.long
@pytest.mark.parametrize("change", [-1, 1])
def test_changed_last_committed_is_noticed(change):
    trace = beginning()
    number = chosen(trace, lambda step: len(step.decided) == 3 and step.items)
    step = trace.steps[number]
    decided = {
        member: replace(d, last_committed=d.last_committed + change)
        if d.last_committed is not None
        else d
        for member, d in step.decided.items()
    }
    assert differences(with_step(trace, number, decided=decided)) == {"timestamp"}


@pytest.mark.long
def test_changed_gtid_is_noticed():
    trace = beginning()
    number = chosen(trace, lambda step: len(step.decided) == 3 and step.specified is None)
    decided = {
        member: replace(d, gtid=replace(d.gtid, number=d.gtid.number + 1))
        for member, d in trace.steps[number].decided.items()
    }
    assert differences(with_step(trace, number, decided=decided)) == {"gtid"}


def test_snapshot_that_lacks_the_last_writer_is_noticed():
    trace = beginning()
    written = set()

    def writes_again(step):
        again = not written.isdisjoint(step.items) and len(step.decided) == 3
        written.update(step.items)
        return again

    number = chosen(trace, writes_again)
    assert "verdict" in differences(with_step(trace, number, snapshot=EMPTY_GTID_SET))


def test_refusal_that_did_not_happen_is_noticed():
    trace = beginning()
    number = chosen(trace, lambda step: not step.decided)
    conflicting = with_step(trace, number, items=("an item of nobody else",))
    assert "verdict" in differences(conflicting)


def test_item_left_out_of_a_write_set_is_noticed():
    trace = beginning()
    number = chosen(trace, lambda step: not step.decided)
    assert "verdict" in differences(with_step(trace, number, items=()))


@pytest.mark.long
def test_member_that_decides_alone_is_noticed():
    trace = beginning()
    number = chosen(trace, lambda step: len(step.decided) == 3)
    decided = dict(trace.steps[number].decided)
    decided.pop(next(m for m in trace.members if m != trace.steps[number].origin))
    assert "verdict" in differences(with_step(trace, number, decided=decided))


@pytest.mark.long
def test_collection_without_its_reports_is_noticed():
    trace = recorded()
    steps = tuple(step for step in trace.steps if not isinstance(step, ExecutedSetDelivered))
    assert differences(replace(trace, steps=steps)) == {"timestamp"}


@pytest.mark.long
def test_changed_donation_is_noticed():
    trace = recorded()
    number = max(n for n, step in enumerate(trace.steps) if isinstance(step, InfoDonated))
    info = dict(trace.steps[number].info)
    info.pop(next(iter(info)))
    assert "certification info" in differences(with_step(trace, number, info=info))


@pytest.mark.parametrize("name", ["version_lacks_the_writers_gtid", "duplicate_item_finds_itself"])
def test_mutants_of_the_certifier_are_noticed(name):
    faulty = mutant_named(name).module(compare_with_reference.__module__)
    assert differences(beginning(), compare=faulty.compare_with_reference)


@pytest.mark.long
def test_record_survives_writing_and_reading(tmp_path):
    from paraply.vocabulary.group_trace_jsonl import write_group_trace

    for name in ("trace.jsonl", "trace.jsonl.gz"):
        write_group_trace(beginning(), tmp_path / name)
        assert read_group_trace(tmp_path / name) == beginning()
