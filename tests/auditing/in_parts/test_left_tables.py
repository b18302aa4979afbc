"""Tables that are left to the readable code, in logs that are judged in parts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.auditing.at_scale import audit_in_parts
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.properties.logs.compiled.left_replay import LeftState
from paraply.properties.logs.conflict_index import Horizon
from paraply.vocabulary.errors import ParaplyError
from tests.adapters.binlog.test_left_tables import DIALECTS, REFUSED, mixture
from tests.auditing.in_parts.auditing import (
    RECORDINGS,
    audit_both,
    contradict,
    differences,
    options_by_default,
    random_sizes,
)
from tests.builders.odd_tables import ODDITIES

RECORDED = ("mysql-9.7.4/schema-changes", "mariadb-10.11.19/load-full-metadata",
            "mariadb-10.11.19/types", "mysql-9.7.4/rotation", "mysql-9.7.4/load-minimal-image",
            "mariadb-10.11.19/load-minimal-image")  # fmt: skip
JUDGED_BY_KERNELS = RECORDED[1::2] + RECORDED[4:5]
"""Their foreign keys cascade, or their images do not show all columns."""


@pytest.mark.long(each=2)
@pytest.mark.parametrize("rows_max", [25, 1_000_000])
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_log_in_parts(tmp_path, monkeypatch, name, rows_max):
    # Kernels refuse unknown keys in overlaps that are longer than the horizon.
    horizon = {"horizon": Horizon()} if name.endswith("minimal-image") else {}
    options_by_default(monkeypatch, replay_rows_max=rows_max, **horizon)
    path = contradict(RECORDINGS / name / "bin.000001", tmp_path / "contradicted.000001", 3)
    whole, parts = audit_both(path, engine="compiled", sizes=random_sizes(2))
    assert (whole.left_rows > 0) == (name not in JUDGED_BY_KERNELS)
    assert differences(whole, parts.result) == []
    assert parts.parts > 1


def run_in_parts(folder, seed, dialect, oddities):
    """Compare one drawn log in one piece and in parts; return the former, None where refused."""
    return in_parts(*mixture(folder, seed, dialect, oddities))


def in_parts(files, options, rng):
    """Compare a log in one piece and in parts; return the former, None where refused."""
    # Past the bound of its list a judge looks no further, and a part's list is its own.
    request = AuditRequest(files=tuple(map(str, files)), engine="compiled")
    with pytest.MonkeyPatch.context() as patch:
        options_by_default(
            patch, horizon=options.horizon, replay_rows_max=options.replay_rows_max,
            replay_findings_max=options.replay_findings_max,
        )  # fmt: skip
        try:
            whole = audit(request)
            parts = audit_in_parts(request, sizes=random_sizes(rng.random()))
        except ParaplyError as refusal:
            if not any(known in str(refusal) for known in REFUSED):
                raise
            return None
    assert differences(whole, parts.result) == []
    return whole


@pytest.mark.long
@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**32),
    dialect=st.sampled_from(DIALECTS),
    oddities=st.lists(st.sampled_from(sorted(ODDITIES)), min_size=1, max_size=2, unique=True),
)
def test_any_mixture_of_left_tables_and_faults_in_parts(tmp_path_factory, seed, dialect, oddities):
    run_in_parts(tmp_path_factory.mktemp("mixture"), seed, dialect, tuple(oddities))


@pytest.mark.long
def test_left_rows_that_are_not_carried_across_parts_hide_contradictions(tmp_path, monkeypatch):
    """The control: left rows are part of the state between parts."""
    monkeypatch.setattr(LeftState, "drop_stale", LeftState.reset_all)
    monkeypatch.setattr(LeftState, "go_on", lambda *_: None)
    path = contradict(RECORDINGS / RECORDED[0] / "bin.000001", tmp_path / "torn.000001", 3)
    whole, parts = audit_both(path, engine="compiled", sizes=random_sizes(2))
    assert differences(whole, parts.result)
