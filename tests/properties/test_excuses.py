"""Judges at their border, from the sound side: no excuse counts for less than it must."""

from __future__ import annotations

from itertools import groupby

import pytest

from paraply.properties.registry import registered_properties
from tests.properties.excuses import breaches, stored

EXCUSES = {name: list(found) for name, found in groupby(stored(), key=lambda one: one.name)}
PROPERTIES = {one.name: one for one in registered_properties()}


@pytest.mark.parametrize("name", EXCUSES)
def test_one_small_change_makes_the_breach(name):
    for excuse in EXCUSES[name]:
        prop = PROPERTIES[excuse.prop]
        assert excuse.breach not in breaches(excuse.history, prop), excuse
        changed = excuse.change.made(excuse.history)
        assert excuse.breach in breaches(changed, prop), excuse
