"""Tables that are filled at once are searched as those that were filled one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from paraply.properties.logs.compiled.probing import probed_places


@example(homes=[15, 15, 0, 14], slots=16)
@given(homes=st.lists(st.one_of(st.integers(12, 15), st.integers(0, 31)), max_size=12),
       slots=st.sampled_from([16, 32]))  # fmt: skip
def test_every_entry_is_found_from_its_home_on(homes, slots):
    digests = np.array([64 * at + home for at, home in enumerate(homes, start=1)], np.uint64)
    places = probed_places(digests, slots).tolist()
    table = dict(zip(places, digests.tolist(), strict=True))
    assert len(table) == len(homes)
    for digest in table.values():
        at = digest % slots
        while table[at] != digest:
            at = (at + 1) % slots
