"""The audit's reports name only options that the servers of the log have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraply.auditing import counterfactuals, predicting
from paraply.auditing.logged_source import Source, tracked_stamps
from paraply.auditing.pipeline import AuditRequest
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.reference_impl.certification.trackers import WritesetTracker
from paraply.reference_impl.comparison.appliers import APPLIERS, AS_LOGGED, WRITESET
from paraply.reference_impl.workloads.stamps import commit_parents, restamped
from paraply.reporting.audit.json_form import render_json
from paraply.reporting.audit.option_names import serial_setting, setting_of
from paraply.reporting.audit.sarif import render_sarif
from paraply.reporting.html import render_html
from paraply.reporting.junit import render_junit
from paraply.reporting.terminal import render_terminal
from paraply.vocabulary.audit_result import FileSummary
from tests.auditing.test_predicting import tasks_of
from tests.builders.logged import NotationKeys, grouped, log
from tests.properties.logged_strategies import mariadb_logs, mysql_logs

EVER = (99,)
OPTIONS = {
    "mysql": {
        "binlog_format": ((5, 1, 5), EVER),
        "binlog_group_commit_sync_delay": ((5, 7, 5), EVER),
        "binlog_row_image": ((5, 6, 2), EVER),
        "binlog_row_metadata": ((8, 0, 1), EVER),
        "binlog_transaction_dependency_history_size": ((5, 7, 22), EVER),
        "binlog_transaction_dependency_tracking": ((5, 7, 22), (8, 4, 0)),
        "replica_parallel_workers": ((8, 0, 26), EVER),
        "replica_preserve_commit_order": ((8, 0, 26), EVER),
        "slave_parallel_workers": ((5, 6, 3), (8, 0, 26)),
        "slave_preserve_commit_order": ((5, 7, 5), (8, 0, 26)),
    },
    "mariadb": {
        "binlog_commit_wait_count": ((10, 0, 5), EVER),
        "binlog_commit_wait_usec": ((10, 0, 5), EVER),
        "binlog_format": ((5, 1, 5), EVER),
        "binlog_row_image": ((10, 1, 6), EVER),
        "binlog_row_metadata": ((10, 5, 0), EVER),
        "gtid_domain_id": ((10, 0, 2), EVER),
        "slave_parallel_mode": ((10, 1, 3), EVER),
        "slave_parallel_threads": ((10, 0, 5), EVER),
    },
}
"""First version with an option, and the first without it or with a newer name; from the manuals."""
LOOKS_LIKE_OPTION = re.compile(
    r"\b(?:binlog|gtid|innodb|log|master|preserve|replica|slave|source|sync|transaction)_[a-z_]+"
)
VERSIONS = {
    "mysql": [(5, 7, 22), (5, 7, 44), (8, 0, 25), (8, 0, 26), (8, 0, 36), (8, 3, 0), (8, 4, 0),
              (9, 4, 0), (9, 7, 4)],
    "mariadb": [(10, 0, 5), (10, 0, 38), (10, 1, 2), (10, 1, 3), (10, 11, 19), (11, 8, 2)],
}  # fmt: skip
"""Those around each change, and some between."""
SUFFIX = {"mysql": "", "mariadb": "-MariaDB-log"}


def judged(family, versions, transactions, *, is_text=False):
    """Return a drawn log's audit with all predictions, as if servers of versions had written it."""
    auditor = Auditor(NotationKeys(), AuditOptions(workers=(1, 2, 8)))
    for txn in transactions:
        auditor.observe(txn)
    result = auditor.result()
    result.files = [
        FileSummary(
            name="bin.000001",
            server=".".join(map(str, version)) + SUFFIX[family],
            format="text" if is_text else family,
        )
        for version in versions
    ]
    tasks = tasks_of(transactions)
    if family == "mysql":
        logged = [task.stamp for task in tasks.tasks[1:]]
        parents = commit_parents(tasks, logged)
        stamps = {AS_LOGGED: logged, WRITESET: restamped(tasks, parents, WritesetTracker())}
    else:
        stamps = tracked_stamps(tasks)
    source = Source(log=tasks, stamps=stamps, has_commit_ids=family == "mariadb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predicting, "logged_source", lambda *_: source)
        # A small history, so that a larger one gains something in a short log.
        patch.setattr(counterfactuals, "HISTORY_DEFAULT", 1)
        patch.setattr(counterfactuals, "HISTORY_SIZES", (2, 1_000_000))
        predicting.predict(AuditRequest(files=(str(Path(__file__)),), workers=(1, 2, 8)), result)
    return result


def rendered(result):
    """Return all forms of the report."""
    return "\n".join(
        (
            render_terminal(result, width=10_000, colour=False),
            render_terminal(result, width=10_000, colour=False, details=False),
            render_html(result),
            render_json(result),
            render_sarif(result),
            render_junit(result, strict=True),
        )
    )


def named(result):
    """Return what looks like an option in all forms of the report."""
    return set(LOOKS_LIKE_OPTION.findall(rendered(result)))


def missing(family, versions, names):
    """Return the names that a version does not have; the newest server has the last word."""
    known = OPTIONS[family]
    newest = max(versions)
    return [
        name for name in sorted(names)
        if name not in known or not known[name][0] <= newest < known[name][1]
    ]  # fmt: skip


def versions_of(family):
    """Return versions of one server, or of one before and after an upgrade."""
    return st.lists(st.sampled_from(VERSIONS[family]), min_size=1, max_size=2, unique=True)


SERIALLY = {"mysql": ("slave_parallel_workers", "replica_parallel_workers"),
            "mariadb": ("slave_parallel_threads",)}  # fmt: skip
CONFLICTS = {
    "mysql": log("1<0 a", "2<0 a", "3<2 b"),
    "mariadb": [
        grouped(1, "1 a"), grouped(2, "1 a"), grouped(3, "2 b"), grouped(4, "3 b", domain=1),
    ],
}  # fmt: skip


@pytest.mark.long(quick=8)
@pytest.mark.parametrize(
    ("family", "version", "is_text"),
    [(family, one, False) for family, found in VERSIONS.items() for one in found]
    + [("mysql", (8, 0, 25), True), ("mariadb", (10, 1, 2), True)],
)
def test_log_with_conflicts_is_applied_serially_by_an_option_of_its_version(
    family, version, is_text
):
    names = named(judged(family, [version], CONFLICTS[family], is_text=is_text))
    assert missing(family, [version], names) == []
    assert len(names & set(SERIALLY[family])) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("family", "logs"), [("mysql", mysql_logs(broken=False)), ("mariadb", mariadb_logs())]
)
def test_reports_of_drawn_logs_name_only_options_of_their_version(family, logs):
    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    @given(logs, versions_of(family), st.booleans())
    def check(transactions, versions, is_text):
        names = named(judged(family, versions, transactions, is_text=is_text))
        assert missing(family, versions, names) == []

    check()


def test_unknown_version_has_the_newest_names():
    assert serial_setting((), is_mariadb=False) == "replica_parallel_workers=1"
    for applier in ("mysql-as-logged", "mariadb-conservative"):
        meaning = APPLIERS[applier].meaning
        assert setting_of(meaning, ()) == setting_of(meaning, EVER)


def test_names_of_another_version_and_unlisted_options_are_found():
    assert missing("mysql", [(8, 0, 25)], {"replica_parallel_workers"})
    assert missing("mysql", [(8, 0, 26)], {"slave_parallel_workers"})
    assert missing("mariadb", [(10, 1, 2)], {"slave_parallel_mode"})
    assert missing("mysql", [(9, 7, 4)], {"innodb_unlisted"})
    assert not missing("mysql", [(8, 0, 25)], {"slave_parallel_workers"})
