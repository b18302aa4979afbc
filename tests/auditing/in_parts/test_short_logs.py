"""Many short drawn logs in parts, whose kernels also run uncompiled in no time."""

from __future__ import annotations

from hypothesis import settings

from tests.adapters.binlog.test_short_logs import SIZE_BYTES, drawn
from tests.auditing.in_parts.test_left_tables import run_in_parts


@settings(max_examples=15)
@drawn
def test_any_short_log_in_parts_is_judged_as_in_one_piece(
    tmp_path_factory, seed, dialect, oddities
):
    folder = tmp_path_factory.mktemp("short")
    run_in_parts(folder, seed, dialect, tuple(oddities), size_bytes=SIZE_BYTES)
