"""The streaming audit: a Structured Streaming query that audits log files as they arrive."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from tempfile import mkdtemp
from typing import Any

from paraply.auditing.following.follower import Follower
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.arriving_files import FORMAT, Arrived, arrived, register_arriving_files
from paraply.mining.engines import OnSpark
from paraply.mining.store import located
from paraply.vocabulary.audit_result import AuditResult, Reason
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.verdict import Verdict, combine

AVAILABLE_NOW = "available-now"
CHECKPOINT = "checkpoint"
FILES_FOLLOW = "files_follow_each_other"

STREAM_ENDED = register(
    "P748",
    "the streaming audit ended: {reason}",
    "correct what the message names and start it again: it continues where it was",
)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Audits the files of a micro-batch; Spark Connect sends it to the server."""

    place: str
    request: AuditRequest

    def __call__(self, batch: Any, _: int) -> None:
        files = [row.file for row in batch.collect()]
        engine = OnSpark("in a query", batch.sparkSession, ships=False)
        try:
            Follower(self.place, self.request, engine.map).take(files)
        finally:
            engine.close()


class StreamingAudit:
    """A running audit.

    Attributes:
        query: Spark's streaming query.
    """

    def __init__(self, query: Any, engine: OnSpark, path: str, follower: Follower) -> None:
        self.query = query
        self._engine = engine
        self._path = path
        self._follower = follower

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; return whether it is reached. Raises P748 if the query failed."""
        try:
            if seconds is None:
                self.query.awaitTermination()
                return True
            return bool(self.query.awaitTermination(seconds))
        except Exception as error:  # Py4J and gRPC have their own types.
            said = re.findall(r"ParaplyError: (.*)", str(error))
            if not said:
                raise
            raise ParaplyError(STREAM_ENDED, reason=said[-1]) from None

    def stop(self) -> None:
        """End the query; a file that is being audited is audited again at the next start."""
        self.query.stop()
        self._engine.close()

    def files(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the rows of the table ``files`` after a number."""
        return self._follower.files(after)

    def uris(self, table: str) -> list[str]:
        """Return the Parquet files of a table, for sessions without Delta."""
        return self._follower.tables.uris(table)

    def left(self) -> Arrived:
        """Return what of the folder is not audited, and why."""
        names = [row["file"] for row in self.files()]
        return arrived(self._path, names[0] if names else "", names[-1] if names else "")

    def result(self) -> AuditResult | None:
        """Return what an audit of all files so far says; None before the first.

        A missing file makes it unknown.
        """
        result = self._follower.result()
        left = self.left()
        if result is not None and left.missing:
            result.unknown_because.append(
                Reason(
                    property=FILES_FOLLOW,
                    subject=left.missing,
                    reason=f"the file is missing, and {left.waiting} behind it wait for it",
                    remedy="bring the file, or audit those behind it into another --out",
                )
            )
            result.verdict = combine((result.verdict, Verdict.UNKNOWN))
        return result


def audit_stream(
    session: Any,
    path: str,
    out: str,
    *,
    trigger: str | float = AVAILABLE_NOW,
    checkpoint: str | None = None,
    request: AuditRequest | None = None,
) -> StreamingAudit:
    """Start to audit the log files that are or arrive at ``path`` into the tables at ``out``.

    Args:
        session: a Spark session, also of Spark Connect.
        path: a folder, a glob, or a URL of one, with the numbered files of one log.
        out: a folder or URL for Delta tables, which the workers reach.
        trigger: ``available-now``, or seconds between two looks at the folder.
        checkpoint: Spark's checkpoint; default is below ``out``, or temporary for a URL, since the
            tables name the file to continue with.
        request: options of the audit; ``files`` is ignored.
    """
    engine = OnSpark("given", session)
    request = replace(request or AuditRequest(files=()), files=())
    path = ",".join(map(located, path.split(",")))
    follower = Follower(engine.reached(out), request)
    follower.sweep()
    if checkpoint is None:
        is_url = "://" in follower.place
        checkpoint = (
            mkdtemp(prefix="paraply-checkpoint-") if is_url else (f"{follower.place}/{CHECKPOINT}")
        )
    register_arriving_files(session)
    writer = (
        session.readStream.format(FORMAT)
        .option("path", path)
        .load()
        .writeStream.foreachBatch(_Batch(follower.place, request))
        .option("checkpointLocation", checkpoint)
    )
    writer = (
        writer.trigger(availableNow=True)
        if trigger == AVAILABLE_NOW
        else writer.trigger(processingTime=f"{float(trigger):g} seconds")
    )
    return StreamingAudit(writer.start(), engine, path, follower)
