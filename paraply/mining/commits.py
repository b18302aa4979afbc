"""The commit log of a campaign: a Delta table of verdict rows, committed by the driver.

One commit names the new files of rows and the campaign's state after them, so both appear at once
or not at all. Readers read what commits name, never what lies in the folder. Two drivers that
commit after the same state conflict, and the second is refused. Decision record 0006 has the
reasons.
"""

from __future__ import annotations

import gzip
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from paraply.mining.batch_runs import SCHEMA, Counts, counts_from_json
from paraply.mining.findings import Found
from paraply.mining.plan import Plan
from paraply.mining.row_files import ROWS, NewFile, read_file
from paraply.mining.store import Store, store_at, store_failed
from paraply.vocabulary.errors import ParaplyError, register

STATES = "states"
STATE, PLAN = "state", "plan"
"""Keys of what a commit says besides files: name of the state's file, digest of the plan."""

SECOND_DRIVER = register(
    "P729",
    "another process has continued this campaign",
    "let one process at a time run a campaign; --resume continues from what the other has stored",
)
NO_DELTA = register(
    "P736",
    "the table of a campaign cannot be used: {reason}",
    "pip install deltalake, and check that the folder or bucket can be reached",
)


@dataclass(slots=True)
class State:
    """How far a campaign is, system by system.

    Attributes:
        made: batches done; those of a system are done in order.
        rows: in the table.
        seconds: of the workers.
        counts: what was found.
    """

    made: list[int]
    rows: list[int]
    seconds: list[float]
    counts: list[Counts]

    def take(self, system: int, found: Found) -> None:
        """Add what batches of a system found."""
        total = Found(
            self.made[system], self.rows[system], self.seconds[system], self.counts[system]
        )
        total.take(found)
        self.made[system], self.rows[system] = total.batches, total.rows
        self.seconds[system] = total.seconds

    def forget(self, system: int) -> None:
        """Let a system begin anew."""
        self.made[system] = self.rows[system] = 0
        self.seconds[system], self.counts[system] = 0.0, Counts()

    def as_bytes(self) -> bytes:
        """Return it as compressed JSON."""
        value = {
            "made": self.made,
            "rows": self.rows,
            "seconds": self.seconds,
            "counts": [counts.as_json() for counts in self.counts],
        }
        return gzip.compress(json.dumps(value).encode(), mtime=0)


def state_from_bytes(data: bytes) -> State:
    """Return what :meth:`State.as_bytes` wrote."""
    value = json.loads(gzip.decompress(data))
    counts = [counts_from_json(counts) for counts in value["counts"]]
    return State(value["made"], value["rows"], value["seconds"], counts)


def new_state(plan: Plan) -> State:
    """Return the state of a campaign of which nothing was run."""
    none = [0] * len(plan.systems)
    return State([*none], [*none], [0.0] * len(none), [Counts() for _ in none])


class CommitLog:
    """The Delta table at ``rows/``; what it holds is that of one moment until :meth:`refresh`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._url = f"{store.url}/{ROWS}"
        self._options = _storage_options(self._url)
        self._table: Any = None
        self._older: str | None = None
        self.refresh()

    @property
    def exists(self) -> bool:
        """Return whether the table was created."""
        return self._table is not None

    def refresh(self) -> None:
        """Read the log anew."""
        delta = _delta()
        with _delta_errors(self._url):
            try:
                self._table = delta.DeltaTable(self._url, storage_options=self._options)
            except delta.exceptions.TableNotFoundError:
                self._table = None

    def create(self, plan: Plan) -> bool:
        """Create the table for a plan; return False where another process was faster."""
        delta = _delta()
        if "://" not in self._url:
            try:
                os.makedirs(self._url, exist_ok=True)
            except OSError as error:
                raise store_failed(self._url, error) from None
        try:
            self._table = delta.DeltaTable.create(
                self._url,
                SCHEMA,
                mode="error",
                name="paraply campaign",
                # Old commits stay readable: the newest state may be in one of them.
                configuration={"delta.enableExpiredLogCleanup": "false"},
                storage_options=self._options,
                commit_properties=delta.CommitProperties(custom_metadata={PLAN: plan.digest}),
            )
        except (delta.exceptions.DeltaError, OSError) as error:
            if "already exists" in str(error) or "version 0" in str(error):
                return False
            raise ParaplyError(NO_DELTA, where=self._url, reason=_first_line(error)) from None
        return True

    def files(self) -> dict[str, int]:
        """Return the files of the table with their bytes."""
        if self._table is None:
            return {}
        actions = pa.table(self._table.get_add_actions(flatten=True)).to_pydict()
        return dict(zip(actions["path"], actions["size_bytes"], strict=True))

    def dataset(self) -> Any:
        """Return the rows as an Arrow dataset, read as they are asked for."""
        if self._table is None:
            return SCHEMA.empty_table()
        return self._table.to_pyarrow_dataset()

    def state(self, plan: Plan) -> State | None:
        """Return the newest state that was committed; None if there is none, or it is damaged."""
        said = self._said(STATE)
        data = self._store.read(said) if said else None
        if data is None:
            return None
        try:
            state = state_from_bytes(data)
        except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError):
            return None
        return state if len(state.made) == len(plan.systems) else None

    def has_state(self) -> bool:
        """Return whether a state was ever committed."""
        return self._said(STATE) is not None

    def plan_digest(self) -> str | None:
        """Return the digest of the plan that the table was created for."""
        return self._said(PLAN)

    def _said(self, key: str) -> str | None:
        if self._table is None:
            return None
        for limit in (4, None):
            for commit in self._table.history(limit):
                if key in commit:
                    return str(commit[key])
        return None

    def commit(self, plan: Plan, state: State, files: Sequence[NewFile]) -> None:
        """Make files and state part of the campaign; P729 where another process was faster."""
        delta = _delta()
        from deltalake.transaction import AddAction

        before = self._said(STATE)
        name = f"{STATES}/{secrets.token_hex(16)}.json.gz"
        self._store.write(name, state.as_bytes())
        now = int(time.time() * 1000)
        actions = [AddAction(file.name, file.size, {}, now, True, file.stats) for file in files]
        properties = delta.CommitProperties(
            custom_metadata={STATE: name, PLAN: plan.digest},
            app_transactions=[delta.Transaction(f"paraply-{plan.digest}", sum(state.made))],
        )
        try:
            self._table.create_write_transaction(
                actions, "append", SCHEMA, commit_properties=properties
            )
        except delta.exceptions.CommitFailedError:
            self._store.delete(name)
            raise ParaplyError(SECOND_DRIVER, where=self._store.url) from None
        except delta.exceptions.DeltaError as error:
            raise ParaplyError(NO_DELTA, where=self._url, reason=_first_line(error)) from None
        self.refresh()
        # A reader may be at the state before, so the one before that goes.
        if self._older:
            self._store.delete(self._older)
        self._older = before

    def forget(self, systems: Sequence[str]) -> None:
        """Take files that are gone out of the table, and all rows of systems."""
        names = ", ".join("'" + name.replace("'", "''") + "'" for name in systems)
        with _delta_errors(self._url):
            self._table.repair()
            self._table.delete(f"system in ({names})")
        self.refresh()


def read_rows(place: str) -> pa.Table:
    """Return the rows of a campaign, in no order; P735 where a file is gone or damaged."""
    store = store_at(place)
    tables = [read_file(store, name) for name in CommitLog(store).files()]
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table()


def _storage_options(url: str) -> Mapping[str, str]:
    """Return what delta-rs needs besides the environment that Arrow reads, too."""
    if not url.startswith("s3://"):
        return {}
    options = {"aws_conditional_put": "etag"}
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint:
        options["aws_endpoint"] = endpoint
    if endpoint.startswith("http://"):
        options["allow_http"] = "true"
    return options


def _delta() -> Any:
    try:
        import deltalake
        import deltalake.exceptions
    except ImportError as error:
        raise ParaplyError(NO_DELTA, reason=str(error)) from None
    return deltalake


@contextmanager
def _delta_errors(where: str) -> Iterator[None]:
    delta = _delta()
    try:
        yield
    except delta.exceptions.TableNotFoundError:
        raise
    except (delta.exceptions.DeltaError, OSError) as error:
        raise ParaplyError(NO_DELTA, where=where, reason=_first_line(error)) from None


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
