"""``paraply audit --spark``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paraply.adapters.violations_parquet import write_violations
from paraply.auditing.at_scale import PartSizes, ScaledAudit, audit_in_parts
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.engines import IN_PROCESS
from paraply.mining.workers import engine_on
from paraply.reporting.files import make_folder

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
    sizes = PartSizes() if spark.part_blocks is None else PartSizes(part_blocks=spark.part_blocks)
    if spark.out is not None:
        make_folder(spark.out)
    with engine_on(request.files, master, spark.out) as (engine, folder):
        found = audit_in_parts(request, engine.map, sizes=sizes, folder=folder, advance=advance)
    if spark.out is not None:
        write_violations(f"{spark.out}/{VIOLATIONS_FILE}", found.violations)
    return found, engine.name
