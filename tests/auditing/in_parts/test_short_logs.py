"""Short drawn logs in parts, whose kernels also run uncompiled in no time."""

from __future__ import annotations

import pytest

from tests.adapters.binlog.test_short_logs import drawn
from tests.auditing.in_parts.test_left_tables import in_parts


@pytest.mark.long(quick=8)
@pytest.mark.parametrize("seed", range(15))
def test_any_short_log_in_parts_is_judged_as_in_one_piece(tmp_path, seed):
    in_parts(*drawn(tmp_path, f"in parts {seed}"))
