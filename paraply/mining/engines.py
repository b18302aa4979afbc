"""Who runs the work: this process, or Spark. Both run the same functions on the same items.

On Spark everything is a DataFrame: ``range`` and ``mapInArrow``, with no ``sparkContext`` and no
RDD, so the same code runs on ``local[*]``, on a cluster and through Spark Connect.
"""

from __future__ import annotations

import gc
import io
import pickle
import re
import secrets
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa

from paraply.mining.findings import findings_of_batches, findings_on_spark
from paraply.mining.rounds import BatchTask, Round
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
"""As a master URL: no Spark, this process does it."""

JOBS_AT_ONCE = 2
"""While one job's last tasks run, the next one's first fill the other cores."""
FIRST_JOB_ITEMS, JOB_ITEMS_MAX = 16, 1024
"""Items of the first job; each next job has twice as many, so a growing cluster is kept busy."""
LOADED_OBJECTS_MAX = 5_000
"""Python objects that a worker's garbage collection may look through after each task."""

PACKAGES = ("paraply",)
"""What a worker of a cluster is sent; it has the libraries already (docs/spark.md)."""


class Engine(Protocol):
    """Applies a function to items, in any order, wherever it likes."""

    name: str
    is_local: bool
    """Whether all of it runs on this machine, and so reaches its files."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield what the function returns for each item, in the order they are finished.

        Items are taken from their source only as they are needed, so it may be very long.
        """

    def run_round(self, task: BatchTask, work: Round) -> Iterator[pa.Table]:
        """Run the batches of a round; yield what they found (``findings.SCHEMA``).

        Batches of one system that a table covers follow one another.
        """

    def reached(self, place: str) -> str:
        """Return an absolute path or URL of a folder; P733 where a worker reaches another."""

    def close(self) -> None:
        """Give back what it holds."""


class InProcess:
    """This process, one item after the other: nothing to start, nothing to ship."""

    name = "this process"
    is_local = True

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield each result as it is asked for."""
        return map(function, items)

    def run_round(self, task: BatchTask, work: Round) -> Iterator[pa.Table]:
        """Yield what each batch found."""
        for number, known in work.batches():
            yield findings_of_batches(task, [(number, known)])

    def reached(self, place: str) -> str:
        """Return the folder's absolute path or URL."""
        return located(place)

    def close(self) -> None:
        """Do nothing."""


class OnSpark:
    """A Spark session: ``local[*]``, a cluster, or a Spark Connect server.

    What a task returns goes to the driver, so it must be small. Spark runs a task again when its
    worker dies, so tasks must bear being run twice.
    """

    def __init__(
        self,
        master: str,
        session: SparkSession | None = None,
        conf: Mapping[str, str] | None = None,
    ) -> None:
        from paraply.mining.session import is_connect, spark_session

        self._owns = session is None
        self._session: Any = session or spark_session(master, conf=conf)
        # Spark serves a shipped file from its place for as long as the session lasts.
        self._shipped = TemporaryDirectory(prefix="paraply-shipped-", ignore_cleanup_errors=True)
        runs_on = str(self._session.conf.get("spark.master", master))
        self.name = f"Spark, {runs_on}"
        self.is_local = runs_on.startswith("local") and not is_connect(master)
        if not self.is_local:
            self._ship()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results job by job, a few jobs in flight; an abandoned iteration cancels them."""
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
                if flying:
                    self._session.interruptTag(tag)

    def _job(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:
        from pyspark import cloudpickle

        pack: Callable[[Any], bytes] = cloudpickle.dumps
        packed = [pack(item) for item in items]

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    result = pack(function(pickle.loads(packed[place])))
                    yield pa.RecordBatch.from_pydict({"result": [result]})
            keep_what_is_loaded()

        tasks = self._session.range(0, len(items), 1, len(items))
        table = self._collected(tasks.mapInArrow(run, "result binary"), tag)
        return [pickle.loads(result) for result in table.column(0).to_pylist()]

    def run_round(self, task: BatchTask, work: Round) -> Iterator[pa.Table]:
        """Yield one table: what all batches found, merged by Spark."""
        frame = findings_on_spark(self._session, task, work, keep_what_is_loaded)
        yield self._collected(frame, f"paraply-{secrets.token_hex(8)}")

    def _collected(self, frame: Any, tag: str) -> pa.Table:
        self._session.addTag(tag)
        try:
            return frame.toArrow()
        except Exception as error:  # Py4J and gRPC have one type for whatever happens beyond them.
            said = re.search(r"vocabulary\.errors\.ParaplyError: (.*)", str(error))
            if said is None:
                raise
            raise ParaplyError(WORKER_REFUSED, reason=said.group(1)) from None
        finally:
            self._session.removeTag(tag)

    def reached(self, place: str) -> str:
        """Return the folder's absolute path or URL, after a worker has read and written there."""
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
        """Stop the session, unless it was lent."""
        if self._owns:
            self._session.stop()
        self._shipped.cleanup()

    def _ship(self) -> None:
        """Send our packages to the workers of a cluster, which need not have them installed."""
        archive = Path(self._shipped.name) / "paraply.zip"
        archive.write_bytes(packed_source())
        self._session.addArtifacts(str(archive), pyfile=True)


class _Probe:
    """What a worker does to show that it reaches a folder: read one file, write another."""

    def __init__(self, place: str, asked: str, answered: str) -> None:
        self._place, self._asked, self._answered = place, asked, answered

    def __call__(self, _: int) -> bytes | None:
        store: Store = store_at(self._place)
        seen = store.read(self._asked)
        if seen is not None:
            store.write(self._answered, seen)
        return seen


def keep_what_is_loaded() -> None:
    """Take what a worker has loaded out of the garbage collection that Spark runs after each task.

    It would look through every module each time, which takes 43 ms with pandas and pyarrow loaded.
    Called at the end of each task, since later tasks import more.
    """
    if len(gc.get_objects(generation=2)) > LOADED_OBJECTS_MAX:
        gc.collect()
        gc.freeze()


def packed_source() -> bytes:
    """Return our packages as a zip archive that Python imports from; equal source, equal bytes."""
    root = Path(__file__).resolve().parents[2]
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for path in sorted((root / package).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    name = path.relative_to(root).as_posix()
                    archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return sink.getvalue()
