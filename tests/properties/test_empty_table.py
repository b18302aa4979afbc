"""Tables for open addressing, small and in huge pages."""

import mmap

import numpy as np
import pytest

from paraply.properties.logs.compiled.probing import HUGE_BYTES, empty_table


@pytest.mark.parametrize("slots", [16, HUGE_BYTES // 4])
@pytest.mark.parametrize("has_huge_pages", [True, False])
def test_table_is_zero_and_can_be_written(monkeypatch, slots, has_huge_pages):
    if not has_huge_pages:
        monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    table = empty_table(slots)
    assert table.shape == (slots,)
    assert table.dtype == np.int32
    assert not table.any()
    table[-1] = 7
    assert int(table.sum()) == 7
