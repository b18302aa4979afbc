"""Which engine takes a log, and what is said where the compiled one cannot."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from types import ModuleType

import pytest

from paraply.adapters.binlog import compiled_gains
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.cli import main
from paraply.properties.logs.compiled import auditor
from paraply.properties.logs.compiled.batches import require_compilable
from paraply.properties.logs.compiled.columns import M_ROWS
from paraply.properties.logs.compiled.judge_kernel import TIME_MAX
from paraply.properties.logs.compiled.state import new_state
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.not_compilable import NotCompilable
from tests.builders.hot_logs import hot_log
from tests.builders.logged import transaction


@pytest.fixture
def log(tmp_path):
    return str(hot_log(tmp_path / "bin.000001", size_bytes=150_000, block_transactions=20))


@pytest.mark.parametrize(
    ("kept", "least_kept", "least_compiling", "engine"),
    [
        (True, 100_000, 10**9, "compiled"),
        (True, 10**9, 10**9, "readable"),
        (False, 100_000, 100_000, "compiled"),
        (False, 100_000, 10**9, "readable"),
    ],
)
def test_auto_takes_the_compiled_engine_where_the_log_repays_it(
    log, monkeypatch, kept, least_kept, least_compiling, engine
):
    monkeypatch.setattr(compiled_gains, "has_kernels", lambda *_: kept)
    monkeypatch.setattr(compiled_gains, "COMPILED_BYTES_MIN", least_kept)
    monkeypatch.setattr(compiled_gains, "COMPILING_BYTES_MIN", least_compiling)
    assert audit(AuditRequest(files=(log,))).engine == engine


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(("more", "engine"), [(0, "compiled"), (1, "readable")])
def test_work_beyond_the_kernels_times_is_left_to_the_readable_code(log, monkeypatch, more, engine):
    work = audit(AuditRequest(files=(log,), engine="readable")).parallelism[0].work

    def nearly_full(**given):
        found = new_state(**given)
        found.line.totals[M_ROWS, 0] = TIME_MAX - work + more
        return found

    monkeypatch.setattr(auditor, "new_state", nearly_full)
    monkeypatch.setattr(compiled_gains, "COMPILED_BYTES_MIN", 0)
    monkeypatch.setattr(compiled_gains, "COMPILING_BYTES_MIN", 0)
    assert audit(AuditRequest(files=(log,))).engine == engine


MIXED = ("mysql-9.7.4", "mariadb-10.11.19")


def mixed(repository):
    """Return files that no compiled engine judges together."""
    folder = repository / "tests" / "fixtures" / "binlogs"
    return tuple(str(folder / name / "xa" / "bin.000001") for name in MIXED)


def test_auto_falls_back_where_the_log_is_not_for_the_compiled_engine(repository, monkeypatch):
    monkeypatch.setattr(compiled_gains, "COMPILED_BYTES_MIN", 0)
    monkeypatch.setattr(compiled_gains, "COMPILING_BYTES_MIN", 0)
    result = audit(AuditRequest(files=mixed(repository)))
    assert result.engine == "readable"
    assert "logs of MySQL and of MariaDB" in result.engine_because
    assert result.row_changes > 0


PARTIAL_JSON = "tests/fixtures/binlogs/mysql-9.7.4/partial-json/bin.000001"
"""Updates of a kind that kernels do not read."""


def test_compiled_engine_begins_again_to_leave_tables_and_says_so(repository):
    files = (str(repository / PARTIAL_JSON),)
    result = audit(AuditRequest(files=files, engine="compiled"))
    assert result.engine == "compiled"
    assert 0 < result.left_rows <= result.row_changes
    assert result.left_tables == {"kinds.part": "keys or columns of other types"}
    readable = audit(AuditRequest(files=files, engine="readable"))
    result.engine, result.left_rows, result.left_tables = "readable", 0, {}
    assert result == readable


def test_report_names_the_share_and_the_tables_of_the_readable_code(repository, capsys):
    main(["audit", str(repository / PARTIAL_JSON), "--engine", "compiled", "--plain"])
    told = " ".join(capsys.readouterr().out.split())
    assert re.search(r"engine: compiled, but for \d+% of the rows: \S+ \(", told)


def test_compiled_engine_by_name_says_why_it_cannot(repository):
    request = AuditRequest(files=mixed(repository), engine="compiled")
    with pytest.raises(ParaplyError, match=r"P308 .*logs of MySQL and of MariaDB"):
        audit(request)


@pytest.mark.parametrize("library", ["numpy", "numba"])
def test_compiled_engine_without_its_libraries_names_their_extra(log, library, monkeypatch, capsys):
    for name in list(sys.modules):
        if name.startswith("paraply.auditing.compiled"):
            monkeypatch.delitem(sys.modules, name)

    class NotInstalled:
        def find_spec(self, name, path=None, target=None):
            if name == "paraply.auditing.compiled":
                raise ModuleNotFoundError(f"No module named '{library}'", name=library)

    monkeypatch.setattr(sys, "meta_path", [NotInstalled(), *sys.meta_path])
    assert main(["audit", log, "--engine", "compiled"]) == 3
    complaint = capsys.readouterr().err
    assert complaint.startswith(f"paraply: P314 this needs the library {library}")
    assert "pip install 'paraply[fast]'" in complaint


def test_compiled_engine_whose_libraries_do_not_fit_gives_the_reason(log, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "paraply.auditing.compiled", ModuleType("empty"))
    assert main(["audit", log, "--engine", "compiled"]) == 3
    assert "P308 the compiled engine cannot audit this: cannot import" in capsys.readouterr().err


@pytest.mark.parametrize(("commit_id", "is_left"), [((1 << 63) - 1, False), (1 << 63, True)])
def test_commit_group_numbered_beyond_the_kernels_is_left_to_the_readable_code(commit_id, is_left):
    with pytest.raises(NotCompilable) if is_left else nullcontext():
        require_compilable(transaction(1, "a", commit_id=commit_id), has_rows=True)
