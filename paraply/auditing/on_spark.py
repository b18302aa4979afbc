"""``paraply audit --spark``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paraply.adapters.binlog.input_files import bytes_total
from paraply.adapters.violations_parquet import write_violations
from paraply.auditing.at_scale import PartSizes, ScaledAudit, audit_in_parts
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.engines import IN_PROCESS, Engine, InProcess, OnSpark
from paraply.mining.part_files import NO_SHARED_FOLDER
from paraply.mining.session import is_submitted
from paraply.reporting.files import make_folder
from paraply.vocabulary.errors import ParaplyError

SPARK_BYTES_MIN = 2 << 30
"""Below this one process finishes before Spark starts."""

VIOLATIONS_FILE = "violations.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkRequest:
    """How to audit at scale."""

    master: str = "auto"
    """``auto``, ``none`` (this process), or Spark."""
    out: str | None = None
    """Folder of violations and borders."""
    part_blocks: int | None = None


def audit_on_spark(
    request: AuditRequest,
    spark: SparkRequest,
    advance: Callable[[float], None] = lambda _: None,
) -> tuple[ScaledAudit, str]:
    """Audit in parts; return result and engine name."""
    # A part of a log is judged in one piece.
    master = IN_PROCESS if request.selection else spark.master
    engine = engine_of(request.files, master)
    sizes = PartSizes() if spark.part_blocks is None else PartSizes(part_blocks=spark.part_blocks)
    try:
        if spark.out is None and not engine.is_local:
            raise ParaplyError(
                NO_SHARED_FOLDER, reason=f"the workers of {spark.master} are elsewhere"
            )
        folder = None
        if spark.out is not None:
            make_folder(spark.out)
            folder = engine.reached(spark.out)
        found = audit_in_parts(request, engine.map, sizes=sizes, folder=folder, advance=advance)
    finally:
        engine.close()
    if spark.out is not None:
        write_violations(f"{spark.out}/{VIOLATIONS_FILE}", found.violations)
    return found, engine.name


def engine_of(files: tuple[str, ...], master: str) -> Engine:
    """Return the engine; small inputs avoid Spark."""
    if master == "auto":
        size = bytes_total(files)
        is_large = size is None or size >= SPARK_BYTES_MIN
        master = "local[*]" if is_large or is_submitted() else IN_PROCESS
    return InProcess() if master == IN_PROCESS else OnSpark(master)
