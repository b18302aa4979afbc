"""Who runs the batches: this process, or Spark. Both run the same function on the same batches."""

from __future__ import annotations

import gc
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from paraply.vocabulary.errors import ParaplyError, register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

WORKER_REFUSED = register(
    "P726",
    "a Spark worker gave up: {reason}",
    "mend what the message names for the machines of the workers, then run it again (--resume goes "
    "on with a campaign)",
)

IN_PROCESS = "none"
"""As a master URL: no Spark, this process does it."""

JOBS_AT_ONCE = 2
"""While one job's last tasks run, the next one's first fill the other cores."""
TASKS_PER_CORE = 4
"""Tasks of one job per core: enough to even out, few enough to hear from it soon."""

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

    def close(self) -> None:
        """Give back what it holds."""


class InProcess:
    """This process, one item after the other: nothing to start, nothing to ship."""

    name = "this process"
    is_local = True

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield each result as it is asked for."""
        return map(function, items)

    def close(self) -> None:
        """Do nothing."""


class OnSpark:
    """A Spark cluster, or ``local[*]``: items are parallelised in small jobs, one item a task.

    What a task returns goes to the driver, so it must be small; rows are written by the task. Spark
    runs a task again when its worker dies.
    """

    def __init__(
        self,
        master: str,
        session: SparkSession | None = None,
        conf: Mapping[str, str] | None = None,
    ) -> None:
        from paraply.mining.session import spark_session

        self._owns = session is None
        self._session = session or spark_session(master, conf=conf)
        self._context: Any = self._session.sparkContext
        # Spark serves a shipped file from its place for as long as the session lasts.
        self._shipped = TemporaryDirectory(prefix="paraply-shipped-", ignore_cleanup_errors=True)
        self.name = f"Spark, {self._context.master}, {self._context.defaultParallelism} cores"
        self.is_local = str(self._context.master).startswith("local")
        if not self.is_local:
            self._ship()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results job by job, a few jobs in flight; an abandoned iteration cancels them."""
        source = iter(items)
        job_items = TASKS_PER_CORE * self._context.defaultParallelism
        flying: set[Future[list[R]]] = set()
        with ThreadPoolExecutor(JOBS_AT_ONCE) as threads:
            try:
                while True:
                    while len(flying) < JOBS_AT_ONCE and (chunk := list(islice(source, job_items))):
                        flying.add(threads.submit(self._job, function, chunk))
                    if not flying:
                        return
                    landed, flying = wait(flying, return_when=FIRST_COMPLETED)
                    for job in landed:
                        yield from job.result()
            finally:
                if flying:
                    self._context.cancelAllJobs()

    def _job(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        try:
            tasks = self._context.parallelize(items, len(items))
            results: list[R] = tasks.map(partial(_as_task, function)).collect()
        except Exception as error:  # Py4J has one type for whatever happens beyond it.
            said = re.search(r"vocabulary\.errors\.ParaplyError: (.*)", str(error))
            if said is None:
                raise
            raise ParaplyError(WORKER_REFUSED, reason=said.group(1)) from None
        return results

    def close(self) -> None:
        """Stop the session, unless it was lent."""
        if self._owns:
            self._session.stop()
        self._shipped.cleanup()

    def _ship(self) -> None:
        """Send our packages to the workers of a cluster, which need not have them installed."""
        archive = Path(self._shipped.name) / "paraply.zip"
        archive.write_bytes(packed_source())
        self._context.addPyFile(str(archive))


def _as_task(function: Callable[[T], R], item: T) -> R:
    result = function(item)
    _keep_what_is_loaded()
    return result


@cache
def _keep_what_is_loaded() -> None:
    """Take what a worker has loaded out of the garbage collection that Spark runs after each task.

    It would look through every module each time, which costs as much as a small task does.
    """
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
