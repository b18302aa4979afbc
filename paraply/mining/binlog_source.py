"""``spark.read.format("binlog")``: binary logs as DataFrames (docs/spark-binlog.md).

Call :func:`register_binlog` once per session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

from paraply.vocabulary.errors import ParaplyError, register

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # Spark 4.0 and 4.1 have neither this nor read limits.

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Stands in where Spark has none."""


if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from paraply.adapters.binlog.blocks import Block

# Spark imports this module in several short processes: import log readers lazily.

BAD_OPTION = register(
    "P740",
    "the binlog data source cannot be used so: {reason}",
    "docs/spark-binlog.md has the options and columns",
)

SCHEMAS = {
    "transactions": (
        "file string, offset long, end_offset long, gtid string, kind string, server_id long, "
        "last_committed long, sequence_number long, commit_id long, domain long, time timestamp, "
        "bytes long, rows long, tables array<string>, keys array<string>, "
        "key_digests array<long>, keys_complete boolean, statements array<string>, complete boolean"
    ),
    "changes": (
        "file string, offset long, gtid string, server_id long, time timestamp, table string, "
        "operation string, before map<string,string>, after map<string,string>"
    ),
    "events": (
        "file string, offset long, end_offset long, type string, server_id long, time timestamp, "
        "bytes long, flags long"
    ),
}
PART_BYTES = 64 << 20
OPTIONS = ("path", "rows", "schema", "partbytes", "mode", "maxbytespertrigger")

Test = Callable[[Any, Any], bool]
_TESTS: Mapping[type[Filter], Test] = {
    EqualTo: lambda found, value: found == value,
    In: lambda found, values: found in values,
    GreaterThan: lambda found, value: found > value,
    GreaterThanOrEqual: lambda found, value: found >= value,
    LessThan: lambda found, value: found < value,
    LessThanOrEqual: lambda found, value: found <= value,
}


def register_binlog(session: SparkSession) -> None:
    """Register ``format("binlog")`` with a session."""
    session.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    session.dataSource.register(BinlogDataSource)


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter on one column."""

    column: str
    kind: type[Filter]
    value: Any

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row passes; NULL fails."""
        found = row.get(self.column)
        return found is not None and _TESTS[self.kind](found, self.value)

    def may_hold_in(self, block: Block) -> bool:
        """Return whether any row of a part can pass."""
        if self.column == "file":
            return self.holds({"file": block.file})
        if self.column == "offset" and block.end is not None:
            if self.kind in (GreaterThan, GreaterThanOrEqual):
                return bool(self.value < block.end)
            if self.kind is EqualTo:
                return bool(block.begin <= self.value < block.end)
        if self.column == "offset" and self.kind in (LessThan, LessThanOrEqual):
            return bool(self.value >= block.begin)
        return True


def condition_of(filter_: Filter) -> Condition | None:
    """Return Spark's filter; None if unsupported."""
    attribute: Any = getattr(filter_, "attribute", ())
    value: Any = getattr(filter_, "value", None)
    if type(filter_) not in _TESTS or len(attribute) != 1:
        return None
    if attribute[0] in ("tables", "keys", "statements", "before", "after"):
        return None

    def comparable(each: Any) -> Any:
        is_naive = isinstance(each, datetime) and each.tzinfo is None
        return each.replace(tzinfo=UTC) if is_naive else each

    value = tuple(map(comparable, value)) if isinstance(value, tuple) else comparable(value)
    if value is None:
        return None
    return Condition(attribute[0], type(filter_), value)


class BinlogDataSource(DataSource):
    """Binary logs of MySQL and MariaDB."""

    @classmethod
    def name(cls) -> str:
        """Return the format name."""
        return "binlog"

    def schema(self) -> str:
        """Return all columns; readers may select some."""
        return SCHEMAS[self._rows()]

    def reader(self, schema: Any) -> DataSourceReader:
        """Return the batch reader."""
        return _BatchReader(self._settings(schema))

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return the streaming reader."""
        return _StreamReader(self._settings(schema))

    def _rows(self) -> str:
        rows = self.options.get("rows", "transactions")
        if rows not in SCHEMAS:
            raise ParaplyError(BAD_OPTION, reason=f"rows={rows} is none of {', '.join(SCHEMAS)}")
        return str(rows)

    def _settings(self, schema: Any) -> Settings:
        unknown = {name.lower() for name in self.options} - set(OPTIONS)
        if unknown:
            raise ParaplyError(BAD_OPTION, reason=f"no such option: {', '.join(sorted(unknown))}")
        if "path" not in self.options:
            raise ParaplyError(BAD_OPTION, reason="load() needs a file, a folder or a glob")
        rows = self._rows()
        known = [each.split(" ")[0] for each in SCHEMAS[rows].split(", ")]
        other = [field.name for field in schema.fields if field.name not in known]
        if other:
            raise ParaplyError(BAD_OPTION, reason=f"no such column: {', '.join(other)}")
        mode = self.options.get("mode", "FAILFAST").upper()
        if mode not in ("FAILFAST", "PERMISSIVE"):
            raise ParaplyError(BAD_OPTION, reason=f"mode={mode} is not FAILFAST or PERMISSIVE")
        return Settings(
            path=self.options["path"],
            rows=rows,
            columns=schema,
            schema=self.options.get("schema"),
            part_bytes=_number(self.options.get("partBytes"), "partBytes") or PART_BYTES,
            is_permissive=mode == "PERMISSIVE",
            trigger_bytes=_number(self.options.get("maxBytesPerTrigger"), "maxBytesPerTrigger"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one read."""

    path: str
    rows: str
    columns: Any
    schema: str | None
    part_bytes: int
    is_permissive: bool
    trigger_bytes: int | None

    @property
    def needs_tables(self) -> bool:
        """Return whether the selection requires table definitions."""
        from paraply.mining.binlog_rows import KEYS

        names = {field.name for field in self.columns.fields}
        return self.rows == "changes" or (self.rows == "transactions" and bool(names & KEYS))

    def read(
        self, partition: _Partition, conditions: Sequence[Condition] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part."""
        from pyspark.sql.pandas.types import to_arrow_schema

        from paraply.mining.binlog_rows import read_part

        def wanted(row: Mapping[str, Any]) -> bool:
            return all(each.holds(row) for each in conditions)

        yield from read_part(
            partition.part,
            self.rows,
            to_arrow_schema(self.columns, timezone="UTC"),
            wanted,
            permissive=self.is_permissive,
        )


class _Partition(InputPartition):
    def __init__(self, part: Any) -> None:
        super().__init__(None)
        self.part = part


class _BatchReader(DataSourceReader):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._conditions: list[Condition] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Use filters; Spark applies them again."""
        for each in filters:
            condition = condition_of(each)
            if condition is not None:
                self._conditions.append(condition)
            yield each

    def partitions(self) -> Sequence[InputPartition]:
        from paraply.mining.binlog_rows import Part, files_at, parts_of, taught_parts

        settings = self._settings
        blocks = parts_of(files_at(settings.path), settings.part_bytes)
        parts = (
            taught_parts(blocks, settings.schema)
            if settings.needs_tables
            else [Part(block=block) for block in blocks]
        )
        return [
            _Partition(part)
            for part in parts
            if all(condition.may_hold_in(part.block) for condition in self._conditions)
        ]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        # Without parts, Spark reads a part that is None.
        if isinstance(partition, _Partition):
            yield from self._settings.read(partition, self._conditions)


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows a log; offsets are bytes per file at transaction ends.

    It reads the newest file up to the last GTID, ROTATE or STOP event.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._target: dict[str, int] | None = None

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self.latestOffset({}, None)

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {}

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

        limit = self._settings.trigger_bytes
        return ReadAllAvailable() if limit is None else ReadMaxBytes(limit)

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802
        from paraply.mining.binlog_follow import available

        found = available(self._settings.path, start, getattr(limit, "max_bytes", None))
        if self._target is None:
            return found
        return {
            file: max(start.get(file, 0), min(end, self._target.get(file, 0)))
            for file, end in found.items()
            if file in start or file in self._target
        }

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        from paraply.mining.binlog_follow import parts_between
        from paraply.mining.binlog_rows import Part, new_registry

        settings = self._settings
        blocks = parts_between(start, end, settings.part_bytes)
        registry = None
        if settings.schema is not None:
            import pickle

            registry = pickle.dumps(new_registry(settings.schema))
        return [_Partition(Part(block=block, registry=registry)) for block in blocks]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, _Partition):
            yield from self._settings.read(partition)


def _number(text: str | None, option: str) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ParaplyError(BAD_OPTION, reason=f"{option}={text} is not a number of bytes")
    return int(text)
