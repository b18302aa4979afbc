"""Logs to cut, and auditors that remember little of them."""

from __future__ import annotations

import pytest

from paraply.properties.logs.conflict_index import Horizon
from tests.auditing.in_parts.auditing import options_by_default
from tests.builders.hot_logs import hot_logs

SMALL_HORIZON = Horizon(keys=120, transactions=25)


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    """A small log per dialect, with few and therefore hot rows."""
    folder = tmp_path_factory.mktemp("parts")
    return hot_logs(folder, seed=5)


@pytest.fixture(autouse=True)
def short_memory(monkeypatch):
    """Give every auditor a memory shorter than the log, so that approaches need not be whole."""
    options_by_default(monkeypatch, horizon=SMALL_HORIZON)
