"""The commit log: a Delta table of verdict rows (decision record 0006).

A commit adds files and state atomically. Readers ignore uncommitted files. The second of two
concurrent commits fails.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from paraply.adapters.filesystems import table_options
from paraply.mining.batch_runs import SCHEMA, Counts, counts_from_json
from paraply.mining.findings import Found
from paraply.mining.plan import Plan
from paraply.mining.row_files import ROWS, NewFile, read_file
from paraply.mining.store import DOCUMENT_BYTES_MAX, Store, store_at, store_failed
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.input_documents import parse_json
from paraply.vocabulary.shapes import require_shape

LOG = f"{ROWS}/_delta_log"
STATES = "states"
_CHECKPOINT = "_last_checkpoint"
STATE, PLAN = "state", "plan"
"""Commit metadata: state file, plan digest."""
STATE_BYTES_MAX = DOCUMENT_BYTES_MAX
"""Unpacked; a state of a thousand systems has some 10 MB."""

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
    """Progress per system.

    Attributes:
        made: finished batches, in order.
        rows: committed rows.
        seconds: worker time.
    """

    made: list[int]
    rows: list[int]
    seconds: list[float]
    counts: list[Counts]

    def take(self, system: int, found: Found) -> None:
        """Add a system's batches."""
        total = Found(
            self.made[system], self.rows[system], self.seconds[system], self.counts[system]
        )
        total.take(found)
        self.made[system], self.rows[system] = total.batches, total.rows
        self.seconds[system] = total.seconds

    def forget(self, system: int) -> None:
        """Restart a system."""
        self.made[system] = self.rows[system] = 0
        self.seconds[system], self.counts[system] = 0.0, Counts()

    def as_bytes(self) -> bytes:
        """Return compressed JSON."""
        value = {
            "made": self.made,
            "rows": self.rows,
            "seconds": self.seconds,
            "counts": [counts.as_json() for counts in self.counts],
        }
        return gzip.compress(json.dumps(value).encode(), mtime=0)


def state_from_bytes(data: bytes) -> State:
    """Read :meth:`State.as_bytes`; ``ValueError`` if it unpacks to more than the maximum."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        text = packed.read(STATE_BYTES_MAX + 1)
    if len(text) > STATE_BYTES_MAX:
        raise ValueError("the state is too large")
    value = parse_json(text)
    require_shape(
        value, {"made": [int], "rows": [int], "seconds": [(int, float)], "counts": [dict]}
    )
    counts = [counts_from_json(counts) for counts in value["counts"]]
    return State(value["made"], value["rows"], value["seconds"], counts)


def name_of_state(data: bytes) -> str:
    """Return the file name: a digest of the content, so an edited state is not read."""
    return f"{STATES}/{hashlib.sha256(data).hexdigest()}.json.gz"


def new_state(plan: Plan) -> State:
    """Return the state before any run."""
    none = [0] * len(plan.systems)
    return State([*none], [*none], [0.0] * len(none), [Counts() for _ in none])


class CommitLog:
    """The Delta table as of the last :meth:`refresh`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._url = f"{store.url}/{ROWS}"
        self._options = table_options(self._url)
        self._table: Any = None
        self._older: str | None = None
        store.require_readable(ROWS)
        self.refresh()

    @property
    def exists(self) -> bool:
        """Return whether the table exists."""
        return self._table is not None

    def refresh(self) -> None:
        """Read the log again."""
        delta = delta_library()
        with delta_errors(self._url):
            try:
                self._table = delta.DeltaTable(self._url, storage_options=self._options)
            except delta.exceptions.TableNotFoundError:
                self._table = None

    def create(self, plan: Plan) -> bool:
        """Create the table; False if another process did."""
        delta = delta_library()
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
                # The newest state may be in an old commit.
                configuration={"delta.enableExpiredLogCleanup": "false"},
                storage_options=self._options,
                commit_properties=delta.CommitProperties(custom_metadata={PLAN: plan.digest}),
            )
        except (delta.exceptions.DeltaError, OSError) as error:
            if "already exists" in str(error) or "version 0" in str(error):
                return False
            raise ParaplyError(NO_DELTA, where=self._url, reason=first_line(error)) from None
        self._sync()
        return True

    def files(self) -> dict[str, int]:
        """Return the table's files and their bytes."""
        if self._table is None:
            return {}
        with delta_errors(self._url):
            actions = pa.table(self._table.get_add_actions(flatten=True)).to_pydict()
        return dict(zip(actions["path"], actions["size_bytes"], strict=True))

    def dataset(self) -> Any:
        """Return the rows lazily."""
        if self._table is None:
            return SCHEMA.empty_table()
        return self._table.to_pyarrow_dataset()

    def state(self, plan: Plan) -> State | None:
        """Return the newest undamaged state."""
        said = self._said(STATE)
        data = self._store.read(said, STATE_BYTES_MAX) if said else None
        if data is None or said != name_of_state(data):
            return None
        try:
            state = state_from_bytes(data)
        except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zlib.error):
            return None
        lists = (state.made, state.rows, state.seconds, state.counts)
        return state if all(len(one) == len(plan.systems) for one in lists) else None

    def has_state(self) -> bool:
        """Return whether any state was committed."""
        return self._said(STATE) is not None

    def plan_digest(self) -> str | None:
        """Return the digest of the table's plan."""
        return self._said(PLAN)

    def _said(self, key: str) -> str | None:
        if self._table is None:
            return None
        with delta_errors(self._url):
            for limit in (4, None):
                for commit in self._table.history(limit):
                    if key in commit:
                        return str(commit[key])
        return None

    def commit(self, plan: Plan, state: State, files: Sequence[NewFile]) -> None:
        """Commit files and state; P729 on conflict."""
        delta = delta_library()
        from deltalake.transaction import AddAction

        before = self._said(STATE)
        data = state.as_bytes()
        name = name_of_state(data)
        self._store.write(name, data)
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
            if name != before:
                self._store.delete(name)
            raise ParaplyError(SECOND_DRIVER, where=self._store.url) from None
        except delta.exceptions.DeltaError as error:
            raise ParaplyError(NO_DELTA, where=self._url, reason=first_line(error)) from None
        self.refresh()
        self._sync()
        # Readers may use the previous state: delete the one before.
        if self._older and self._older not in (before, name):
            self._store.delete(self._older)
        self._older = before

    def forget(self, systems: Sequence[str]) -> None:
        """Remove missing files and systems' rows."""
        names = ", ".join("'" + name.replace("'", "''") + "'" for name in systems)
        with delta_errors(self._url):
            self._table.repair()
            self._table.delete(f"system in ({names})")
        self.refresh()
        self._sync()

    def _sync(self) -> None:
        # delta-rs does not; a commit that the disk loses in part makes the table unreadable.
        self._store.sync(LOG, f"{self._table.version():020}")


def drop_torn_commit(store: Store, log: str = LOG, mark: str = PLAN) -> bool:
    """Remove a last commit that a failure of the machine cut short; return whether there was one.

    What it committed is made again. ``mark`` is a key in the information of our commits.
    """
    commits = [name for name in store.names(log) if name.endswith(".json")]
    if not commits:
        return False
    newest = max(commits).removesuffix(".json")
    files = {name: store.read(f"{log}/{name}") or b"" for name in store.names(log)
             if name.startswith((newest, _CHECKPOINT))}  # fmt: skip
    torn = [name for name, data in files.items() if not _is_whole(name, data, mark)]
    for name in torn and {*torn, _CHECKPOINT}:  # Without this hint, the folder is listed.
        store.delete(f"{log}/{name}")
    return bool(torn)


def _is_whole(name: str, data: bytes, mark: str) -> bool:
    if name.endswith(".parquet"):
        return data.endswith(b"PAR1")
    try:
        actions = [parse_json(line) for line in data.split(b"\n")]
        kinds = {kind: action[kind] for action in actions for kind in action}
        is_ours = mark in kinds.get("commitInfo", ())
    except (ValueError, TypeError):
        return False
    return not is_ours or "txn" in kinds or "metaData" in kinds  # The last lines of ours.


def read_rows(place: str) -> pa.Table:
    """Return unordered rows; P735 for unreadable files."""
    store = store_at(place)
    tables = [read_file(store, name) for name in CommitLog(store).files()]
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table()


def delta_library() -> Any:
    """Return the library; P736 if it is missing."""
    try:
        import deltalake
        import deltalake.exceptions
    except ImportError as error:
        raise ParaplyError(NO_DELTA, reason=str(error)) from None
    return deltalake


@contextmanager
def delta_errors(where: str) -> Iterator[None]:
    """Turn the library's errors into P736, except a missing table."""
    delta = delta_library()
    try:
        yield
    except delta.exceptions.TableNotFoundError:
        raise
    except (delta.exceptions.DeltaError, OSError) as error:
        raise ParaplyError(NO_DELTA, where=where, reason=first_line(error)) from None


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text."""
    return str(error).partition("\n")[0]
