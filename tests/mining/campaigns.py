"""Small campaigns for tests: a few systems, a few batches, and the whole table as rows."""

from __future__ import annotations

from paraply.mining.batch_files import ROWS, read_rows
from paraply.mining.plan import Plan
from paraply.mining.store import store_at
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
    store = store_at(str(place))
    rows = []
    for name in store.names(ROWS):
        number = int(name.removeprefix("batch-").removesuffix(".parquet"))
        rows += read_rows(store, number).to_pylist()
    return sorted(rows, key=lambda row: (row["subject"], row["mutant"], row["dialect"], row["run"]))
