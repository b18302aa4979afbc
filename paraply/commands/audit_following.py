"""``paraply audit --follow``: audit the files of a log as they arrive."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from paraply.auditing.following.stream import StreamingAudit, audit_stream
from paraply.auditing.pipeline import AuditRequest
from paraply.errors import NOTHING_ARRIVED
from paraply.mining.session import spark_session
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError

LOOK_S = 1.0
"""Between two looks at the tables, to print what is new."""


def follow(request: AuditRequest, arguments: argparse.Namespace) -> AuditResult:
    """Audit until the query ends or Ctrl-C; return the result of all files so far."""
    (path,) = request.files
    master = "local[*]" if arguments.master == "auto" else arguments.master
    audit = audit_stream(
        spark_session(master), path, arguments.out, trigger=arguments.trigger, request=request
    )
    told = len(audit.files())
    if told:
        sys.stderr.write(f"continues behind {counted(told, 'audited file')}\n")
    try:
        is_over = False
        while not is_over:
            is_over = audit.wait(LOOK_S)
            told = _tell_of_files(audit, told)
    except KeyboardInterrupt:
        sys.stderr.write("stopped; the same command continues\n")
    finally:
        audit.stop()
    _tell_of_files(audit, told)
    left = audit.left()
    if left.growing:
        sys.stderr.write(f"{left.growing} is still being written: left for the next time\n")
    if left.missing:
        sys.stderr.write(
            f"{left.missing} is missing: {counted(left.waiting, 'file')} behind it "
            f"{'waits' if left.waiting == 1 else 'wait'} for it\n"
        )
    result = audit.result()
    if result is None:
        raise ParaplyError(NOTHING_ARRIVED, where=path)
    return result


def _tell_of_files(audit: StreamingAudit, told: int) -> int:
    for row in audit.files(after=told):
        sys.stderr.write(_line(row) + "\n")
        told = row["number"]
    sys.stderr.flush()
    return told


def _line(row: Mapping[str, Any]) -> str:
    breaches = row["violations"] + row["lint_violations"] + row["replay_findings"]
    return (
        f"{row['file']}: {row['verdict']}, {counted(row['transactions'], 'transaction')}"
        + (f", {counted(breaches, 'breach', 'breaches')}" if breaches else "")
        + (f"; {row['stopped']}" if row["stopped"] else "")
    )
