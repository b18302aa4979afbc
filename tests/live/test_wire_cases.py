"""Cases become logs of real servers as the page says, and others do not."""

from __future__ import annotations

import random

import pytest

from ci.pages.stored_results import read_results
from ci.wire_cases import FINDERS, STORE, outcomes
from paraply.adapters.conformance.cases import cases_named
from tests.live.runs import installed

pytestmark = pytest.mark.live
SAMPLE = 20


@pytest.mark.parametrize("family", list(FINDERS))
def test_sampled_cases_become_logs_as_the_page_says(family):
    installation = installed(FINDERS[family])
    said = {one["case"]: one["reason"] for one in read_results(STORE) if one["family"] == family}
    assert set(said) == {case.id for case in cases_named([])}
    seed = random.randrange(10**6)
    print(f"live: wire cases of {family}: seed {seed}")
    sample = random.Random(seed).sample(cases_named([]), SAMPLE)
    assert dict(outcomes(installation, sample)) == {one.id: said[one.id] for one in sample}
