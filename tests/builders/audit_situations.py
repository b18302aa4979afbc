"""Every situation a report must show well, the hostile one among them."""

from __future__ import annotations

from dataclasses import replace

from paraply.vocabulary.audit_result import Reason
from tests.builders.audit_results import (
    empty_result,
    holding_result,
    mariadb_result,
    single_transaction_result,
    transaction,
    truncated_result,
    violated_result,
)

HOSTILE = "\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>\"'&\u202egnp.exe\x00\x9b31m\n]]>"
"""Clears a screen, sets a title, runs a script, reverses text, ends a CDATA section."""


def hostile_result():
    """Every text of the result holds what could act on a terminal, a browser or an XML reader."""
    result = violated_result()
    evil = replace(transaction(1, file=HOSTILE), gtid=HOSTILE)
    result.unknown_because = [
        Reason(property=HOSTILE, subject=HOSTILE, reason=HOSTILE, remedy=HOSTILE)
    ]
    for file in result.files:
        file.name = file.server = file.format = file.checksum = file.stopped = HOSTILE
        file.first_gtid = file.last_gtid = HOSTILE
        file.events = file.skipped_event_types = {HOSTILE: 1}
    result.kinds = {HOSTILE: 1}
    result.tables = [
        replace(table, name=HOSTILE, keys=(HOSTILE,), sources=(HOSTILE,)) for table in result.tables
    ]
    result.violations = [
        replace(
            violation,
            property=HOSTILE,
            applier=HOSTILE,
            table=HOSTILE,
            index=HOSTILE,
            key=HOSTILE,
            consequence=HOSTILE,
            earlier=evil,
            later=evil,
        )
        for violation in result.violations
    ]
    result.lint = [
        replace(finding, rule=HOSTILE, message=HOSTILE, file=HOSTILE, transactions=(evil,))
        for finding in result.lint
    ]
    result.replay.findings = [
        replace(
            finding, property=HOSTILE, transaction=evil, table=HOSTILE, key=HOSTILE, message=HOSTILE
        )
        for finding in result.replay.findings
    ]
    result.replay.tables = {HOSTILE: 1}
    result.parallelism = [replace(model, model=HOSTILE) for model in result.parallelism]
    result.blockers = [replace(blocker, kind=HOSTILE, name=HOSTILE) for blocker in result.blockers]
    result.critical_path = [
        replace(link, transaction=evil, because=HOSTILE) for link in result.critical_path
    ]
    result.assumptions = [HOSTILE]
    result.engine = HOSTILE
    return result


EVERY_SITUATION = {
    "empty": empty_result,
    "single": single_transaction_result,
    "holds": holding_result,
    "violated": violated_result,
    "truncated": truncated_result,
    "mariadb": mariadb_result,
    "hostile": hostile_result,
}
