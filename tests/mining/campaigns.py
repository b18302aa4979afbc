"""Small campaigns for tests: a few systems, a few batches, and the whole table as rows."""

from __future__ import annotations

from paraply.mining.commits import read_rows
from paraply.mining.plan import Plan
from paraply.mining.systems import systems_of

MUTANTS = ("last_committed_off_by_one", "items_are_stored_before_they_are_looked_up")


def small_plan(
    *, histories=60, batch=20, seed=0, subjects=("write_sets",), mutants=MUTANTS, **more
):
    return Plan(
        systems=systems_of(subjects, mutants, {}),
        histories=histories,
        seed=seed,
        batch_histories=batch,
        **more,
    )  # fmt: skip


def rows_of(place, plan):
    """Return every row of a campaign, sorted: by system, then by run."""
    rows = read_rows(str(place)).to_pylist()
    return sorted(rows, key=lambda row: (row["system"], row["run"]))
