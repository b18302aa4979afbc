"""The composed system's kernels against the reference: the same program, run and verdicts."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.system import run_fast, run_many, settings_of
from paraply.mining.systems import systems_of
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.certification.gtids import GROUP_NAME, Gtid, format_gtid_set
from paraply.reference_impl.composed.rows import item_of_row
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import RecordedSchedule

WITHIN = {"joins": "0", "departures": "0", "alterations": "0"}
FIRST_SEED = int(os.environ.get("PARAPLY_FAST_FIRST", "0"))
SEEDS = int(os.environ.get("PARAPLY_FAST_SEEDS", "25"))
"""Of each mutant and dialect; a nightly run takes a slice of its own, so that days add up."""


def system(name, words):
    named = ([name], []) if name.startswith("composed:") else ([], [name])
    (one,) = systems_of(*named, {**WITHIN, **words})
    return one


def drawn(seed):
    """Return drawn sizes and options within the kernels' scope."""
    dice = Random(seed)
    return {
        "members": str(dice.randint(1, 4)),
        "transactions": str(dice.randint(1, 9)),
        "rows": str(dice.randint(1, 6)),
        "workers": str(dice.randint(1, 5)),
        "sessions": str(dice.randint(1, 4)),
        "acknowledgements": str(dice.randint(0, 3)),
        "broadcasts": str(dice.choice((0, 4, 10))),
        "reads": str(dice.randint(0, 6)),
        **{
            name: dice.choice(("true", "false"))
            for name in ("after_commit", "one_commit_order", "barriers", "deletes")
        },
    }


def gtids_of(text):
    """Return the numbers of a GTID set of the group as bits."""
    bits = 0
    for part in text.split(":")[1:]:
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            bits |= 1 << number
    return bits


def bits_of(transactions):
    return sum(1 << int(one) for one in transactions)


def events_of(history, names):
    """Return the events of a history as the kernels write them."""
    rows = {item_of_row(name): row for row, name in enumerate(names)}
    members = {member: number for number, member in enumerate(history.members)}
    found = []
    for event in history.events:
        other, seen, executed = int(event.other or 0), event.transactions, gtids_of(event.gtid_set)
        if event.kind is EventKind.READ:
            other = ("reader", "auditor").index(event.session)
            executed = sum(
                int(one.writer) << A.SEEN_BITS * rows[one.item] for one in event.observed
            )
        elif event.kind is EventKind.GARBAGE_COLLECTED:
            other = sum(1 << rows[item] for item in event.items)
        elif event.kind is EventKind.CERTIFIED and event.note:
            other = rows[int(event.note.removeprefix("conflict on "))]
        elif event.kind in (EventKind.FLUSHED, EventKind.SYNCED):
            other = event.group
        stamp = event.timestamp
        found.append(
            (
                event.time, C.KINDS.index(event.kind), members[event.member], event.worker or 0,
                int(event.transaction or 0), event.attempt, C.OUTCOME_CODES[event.outcome], other,
                A.NONE if event.row is None else event.row,
                A.NONE if stamp is None else stamp.last_committed,
                A.NONE if stamp is None else stamp.sequence_number,
                int(event.gtid.partition(":")[2] or 0), executed, bits_of(seen),
            )
        )  # fmt: skip
    return found


def writes_of(history, names):
    """Return kind, origin, snapshot and row changes of each transaction."""
    members = {member: number for number, member in enumerate(history.members)}
    kinds = {"rows": A.KIND_ROWS, "no_write_set": A.KIND_NO_WRITE_SET, "ctas": A.KIND_CTAS}

    def value(image):
        return 0 if image is None else image[1]

    return [
        (
            kinds[one.kind.value], members[one.origin], gtids_of(one.snapshot_gtids),
            [
                (names.index((row.before or row.after)[0]), value(row.before), value(row.after))
                for row in one.rows
            ],
        )
        for one in history.transactions
    ]  # fmt: skip


def kernels_writes(fast):
    found = []
    for transaction in range(1, fast.room.left[C.G_SENT] + 1):
        one = fast.room.log[transaction].tolist()
        rows = [
            (one[C.T_ITEMS] >> 3 * change & 7, *fast.room.images[transaction, change].tolist())
            for change in range(one[C.T_COUNT])
        ]
        found.append((one[C.T_KIND], one[C.T_ORIGIN], one[C.T_SNAPSHOT], rows))
    return found


def assert_same(one, fast, choices):
    """Replay a kernel's program on the reference and compare everything."""
    schedule = RecordedSchedule(choices)
    history = one.runner.run(schedule, one.workload)
    names = one.workload.row_names
    assert tuple(schedule.choices) == fast.choices
    assert events_of(history, names) == [tuple(row) for row in fast.events.tolist()]
    assert writes_of(history, names) == kernels_writes(fast)
    judged = {
        prop.name for prop in one.properties
        if prop.name in C.JUDGED and prop.violations(history)
    }  # fmt: skip
    assert judged == fast.broken
    return judged
