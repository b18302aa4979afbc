"""Engines: this process, or Spark.

Spark work uses DataFrames only, so it supports ``local[*]``, clusters and Spark Connect.
"""

from __future__ import annotations

import pickle
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa

from paraply.mining.findings import findings_of_batches, findings_on_spark
from paraply.mining.rounds import BatchTask, Round
from paraply.mining.shipping import ARCHIVE, in_worker, packed_source
from paraply.mining.store import Store, located, store_at
from paraply.vocabulary.errors import ParaplyError, register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

WORKER_REFUSED = register(
    "P726",
    "a Spark worker gave up: {reason}",
    "correct what the message names on the workers' machines, then run it again (--resume "
    "continues a campaign)",
)
PLACE_NOT_SHARED = register(
    "P733",
    "driver and Spark workers do not see the same folder: {reason}",
    "name a URL such as s3://bucket/folder, or a folder on a disk that all machines mount at the "
    "same path",
)

IN_PROCESS = "none"
"""Master URL without Spark."""

JOBS_AT_ONCE = 2
"""Two jobs overlap, so cores stay busy."""
FEW_ROWS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
}
"""Few rows pass the JVM: compiling a plan, or revising it, costs more than it saves."""
FIRST_JOB_ITEMS, JOB_ITEMS_MAX = 16, 1024
"""First and largest job; sizes double."""


class Engine(Protocol):
    """Applies functions to items, unordered."""

    name: str
    is_local: bool
    """Whether workers share this machine's files."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results as they finish; reads ``items`` lazily."""

    def run_round(self, task: BatchTask, work: Round) -> Iterator[pa.Table]:
        """Run a round; yield findings (``findings.SCHEMA``).

        Batches of a system in one table are consecutive.
        """

    def reached(self, place: str) -> str:
        """Return a folder's absolute path or URL; P733 if workers reach another."""

    def close(self) -> None:
        """Release all resources."""


class InProcess:
    """Runs items in this process, sequentially."""

    name = "this process"
    is_local = True

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results lazily."""
        return map(function, items)

    def run_round(self, task: BatchTask, work: Round) -> Iterator[pa.Table]:
        """Yield each batch's findings."""
        for number, known in work.batches():
            yield findings_of_batches(task, [(number, known)])

    def reached(self, place: str) -> str:
        """Return the folder's absolute path or URL."""
        return located(place)

    def close(self) -> None:
        """Do nothing."""


class SparkLostError(RuntimeError):
    """Spark's session ended before its work."""


class OnSpark:
    """Runs items on Spark.

    Results pass the driver: keep them small. Spark repeats tasks: keep them idempotent.
    """

    def __init__(
        self,
        master: str,
        session: SparkSession | None = None,
        conf: Mapping[str, str] | None = None,
        *,
        ships: bool = True,
    ) -> None:
        """Use or start a session; ``ships`` our packages unless its workers have them."""
        from paraply.mining.session import is_connect, spark_session

        self._owns = session is None
        self._is_lost = False
        settings = {**({} if is_connect(master) else FEW_ROWS), **(conf or {})}
        self._session: Any = session or spark_session(master, conf=settings, keeps_classes=True)
        # Spark serves shipped files from here.
        self._shipped = TemporaryDirectory(prefix="paraply-shipped-", ignore_cleanup_errors=True)
        runs_on = str(self._session.conf.get("spark.master", master))
        self.name = f"Spark, {runs_on}"
        self.is_local = runs_on.startswith("local") and not is_connect(master)
        if self._owns and self.is_local:
            # Python's workers start while the driver plans.
            Thread(target=self._start_workers, daemon=True).start()
        if ships and not self.is_local:
            self._ship()

    def _start_workers(self) -> None:
        with suppress(Exception):  # The work itself will show it.
            self._session.range(0, 1, 1, 1).mapInArrow(_same, "id long").toArrow()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results of overlapping jobs; closing cancels them."""
        source = iter(items)
        job_items = FIRST_JOB_ITEMS
        tag = f"paraply-{secrets.token_hex(8)}"
        flying: set[Future[list[R]]] = set()
        with ThreadPoolExecutor(JOBS_AT_ONCE) as threads:
            try:
                while True:
                    while len(flying) < JOBS_AT_ONCE and (chunk := list(islice(source, job_items))):
                        flying.add(threads.submit(self._job, function, chunk, tag))
                        job_items = min(2 * job_items, JOB_ITEMS_MAX)
                    if not flying:
                        return
                    landed, flying = wait(flying, return_when=FIRST_COMPLETED)
                    for job in landed:
                        yield from job.result()
            finally:
                if flying and not self._is_lost:
                    self._session.interruptTag(tag)

    def _job(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:
        from pyspark import cloudpickle

        pack: Callable[[Any], bytes] = cloudpickle.dumps
        packed = [pack(item) for item in items]

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            with in_worker():
                for batch in batches:
                    for place in batch.column(0).to_pylist():
                        result = pack(function(pickle.loads(packed[place])))
                        yield pa.RecordBatch.from_pydict({"result": [result]})

        tasks = self._session.range(0, len(items), 1, len(items))
        table = self._collected(tasks.mapInArrow(run, "result binary"), tag)
        return [pickle.loads(result) for result in table.column(0).to_pylist()]

    def run_round(self, task: BatchTask, work: Round) -> Iterator[pa.Table]:
        """Yield one table, merged by Spark."""
        frame = findings_on_spark(self._session, task, work)
        yield self._collected(frame, f"paraply-{secrets.token_hex(8)}")

    def _collected(self, frame: Any, tag: str) -> pa.Table:
        try:
            self._session.addTag(tag)
            try:
                return frame.toArrow()
            finally:
                self._session.removeTag(tag)
        except Exception as error:  # Py4J and gRPC have one type for whatever happens beyond them.
            said = re.search(r"vocabulary\.errors\.ParaplyError: (.*)", str(error))
            if said is not None:
                raise ParaplyError(WORKER_REFUSED, reason=said.group(1)) from None
            if self._answers():
                raise
            self._is_lost = True
            raise SparkLostError(
                f"the session of {self.name} was lost ({type(error).__name__}); what a campaign "
                "has committed is kept, and --resume continues it"
            ) from error

    def _answers(self) -> bool:
        try:
            self._session.conf.get("spark.master", "")
        except Exception:  # Whatever it is, there is no answer.
            return False
        return True

    def reached(self, place: str) -> str:
        """Return the absolute path or URL, after a worker's test."""
        url = located(place)
        if self.is_local:
            return url
        store, token = store_at(url), secrets.token_hex(8)
        asked, answered = f".probe-{token}", f".probe-{token}-answer"
        store.write(asked, token.encode())
        try:
            (seen,) = self.map(_Probe(url, asked, answered), [0])
            if seen != token.encode():
                reason = "a worker does not find what the driver wrote there"
                raise ParaplyError(PLACE_NOT_SHARED, where=url, reason=reason)
            if store.read(answered) != token.encode():
                reason = "the driver does not find what a worker wrote there"
                raise ParaplyError(PLACE_NOT_SHARED, where=url, reason=reason)
        except ParaplyError as error:
            if error.error is not WORKER_REFUSED:
                raise
            reason = f"a worker cannot use it: {error.details['reason']}"
            raise ParaplyError(PLACE_NOT_SHARED, where=url, reason=reason) from None
        finally:
            for name in (asked, answered):
                store.delete(name)
        return url

    def close(self) -> None:
        """Stop the session, unless borrowed."""
        if self._owns and not self._is_lost:
            self._session.stop()
        self._shipped.cleanup()

    def _ship(self) -> None:
        archive = Path(self._shipped.name) / ARCHIVE
        archive.write_bytes(packed_source())
        self._session.addArtifacts(str(archive), pyfile=True)


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


class _Probe:
    def __init__(self, place: str, asked: str, answered: str) -> None:
        self._place, self._asked, self._answered = place, asked, answered

    def __call__(self, _: int) -> bytes | None:
        store: Store = store_at(self._place)
        seen = store.read(self._asked)
        if seen is not None:
            store.write(self._answered, seen)
        return seen
