"""Starts a fast, local Spark session without leftovers."""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraply.mining.java import class_archive_options, ensure_java_home
from paraply.vocabulary.errors import ParaplyError, register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_NOT_STARTED = register(
    "P725",
    "Spark does not start on {master}: {reason}",
    "use --master none, which needs no Spark, or correct what the message names (docs/spark.md)",
)

LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    # The JVM only distributes batches and collects counts.
    "spark.driver.memory": "512m",
    # The hot loop is in Python, so skip the second compiler.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.python.daemon.module": "paraply.mining.worker_daemon",
}
"""For ``local[*]`` only."""

QUIET_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # A worker that a busy machine starts late is no failure.
    "spark.python.authenticate.socketTimeout": "120s",
}

LOG_LINES_SHOWN = 3
TASK_FAILURES_MAX = 4
"""Plain local mode fails with the first killed worker."""


def spark_session(
    master: str = "local[2]",
    *,
    app: str = "paraply",
    conf: Mapping[str, str] | None = None,
    keeps_classes: bool = False,
) -> SparkSession:
    """Return this process's Spark session, starting one if needed.

    ``keeps_classes``: what the session loads is typical, and makes later ones start faster.

    ``spark-submit`` determines its processes' master and settings. ``sc://host:port`` is Spark
    Connect. Workers use this interpreter; local mode binds to loopback. Exit removes JVM logs and
    Spark's other files. Raises ``ParaplyError`` P701 (no Java), P725 (Spark failed).
    """
    ensure_java_home()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    _let_workers_find_us()
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParaplyError(
            SPARK_NOT_STARTED, master=master, reason="pyspark is not installed"
        ) from None

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    scratch = Path(tempfile.mkdtemp(prefix="paraply-spark-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    builder = SparkSession.builder.appName(app)
    if is_connect(master):
        return _connected(builder.remote(master), master, conf or {})
    if not is_submitted():
        builder = builder.master(with_retries(master))
    settings = dict(QUIET_SETTINGS)
    settings["spark.sql.warehouse.dir"] = str(scratch / "warehouse")
    if master.startswith("local") and not is_submitted():
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= LOCAL_SETTINGS
        settings["spark.local.dir"] = str(scratch)
        settings["spark.driver.extraJavaOptions"] += class_archive_options(writes=keeps_classes)
    for name, value in {**settings, **(conf or {})}.items():
        builder = builder.config(name, value)
    _let_accumulators_end_quietly()
    # A lost session is told once, by our own error; Py4J would log every call after it, some by its
    # own logger and some by the root.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_of_py4j)
    log = scratch / "spark.log"
    try:
        with _standard_error_to(log):
            session = builder.getOrCreate()
    except Exception as error:  # Py4J wraps whatever the JVM throws, and its own start-up errors.
        raise ParaplyError(SPARK_NOT_STARTED, master=master, reason=_reason(error, log)) from None
    return session


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def is_connect(master: str) -> bool:
    """Return whether a master is Spark Connect's."""
    return master.startswith("sc://")


def _connected(builder: Any, master: str, conf: Mapping[str, str]) -> SparkSession:
    for name, value in conf.items():
        builder = builder.config(name, value)
    try:
        session: SparkSession = builder.getOrCreate()
    except Exception as error:  # gRPC's errors, and missing libraries, have many types.
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise ParaplyError(SPARK_NOT_STARTED, master=master, reason=reason) from None
    return session


def is_submitted() -> bool:
    """Return whether ``spark-submit`` started this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def with_retries(master: str) -> str:
    """Return a master URL with task retries.

    >>> with_retries("local[2]"), with_retries("spark://host:7077")
    ('local[2,4]', 'spark://host:7077')
    """
    plain = re.fullmatch(r"local(?:\[(\*|\d+)\])?", master)
    return f"local[{plain.group(1) or 1},{TASK_FAILURES_MAX}]" if plain else master


@contextmanager
def _standard_error_to(log: Path) -> Iterator[None]:
    """Redirect file descriptor 2, also for the JVM started meanwhile."""
    sys.stderr.flush()
    kept = os.dup(2)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(handle, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(handle)


def _let_accumulators_end_quietly() -> None:
    """Print no traceback of theirs when Java is gone; the job that misses it tells."""
    from pyspark import accumulators

    for server in (accumulators.AccumulatorTCPServer, accumulators.AccumulatorUnixServer):
        server.handle_error = lambda *_: None  # type: ignore[method-assign]


def _let_workers_find_us() -> None:
    root = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH", "")
    if root not in path.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, path)))


def _reason(error: BaseException, log: Path) -> str:
    """Return the exception's text and the JVM's last line."""
    said = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    errors = [line.strip() for line in said if "Error" in line or "Exception" in line]
    first = str(error).strip().splitlines() or [type(error).__name__]
    return "; ".join([first[0], *errors[:LOG_LINES_SHOWN]])
