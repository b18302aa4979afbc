"""Cases become logs of real servers as the page says, and the right sample passes them."""

from __future__ import annotations

import random
import sys
from collections import Counter

import pytest

from ci.pages.stored_results import read_results
from ci.wire_cases import FINDERS, STORE, outcomes
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.servers import ServerRoom
from paraply.adapters.wire.samples import threaded_applier
from paraply.commands.conform_wire import own_target
from paraply.conforming.suite import Result
from paraply.conforming.wire.suite import WireConformance, WireOptions
from tests.live.runs import installed

pytestmark = pytest.mark.live
SAMPLE = 20
FOR_FEW_PROGRAMS = "D-collation-05"


@pytest.fixture(params=list(FINDERS))
def family(request):
    return request.param


def reasons_of(family):
    """Return why each case is no log of the server; empty if it is one."""
    return {one["case"]: one["reason"] for one in read_results(STORE) if one["family"] == family}


def test_sampled_cases_become_logs_as_the_page_says(family):
    installation = installed(FINDERS[family])
    said = reasons_of(family)
    assert set(said) == {case.id for case in cases_named([])}
    seed = random.randrange(10**6)
    print(f"live: wire cases of {family}: seed {seed}")
    sample = random.Random(seed).sample(cases_named([]), SAMPLE)
    assert dict(outcomes(installation, sample)) == {one.id: said[one.id] for one in sample}


@pytest.mark.nightly
def test_right_sample_passes_every_case_that_the_server_logs(family, tmp_path):
    installation = installed(FINDERS[family])
    command = [sys.executable, threaded_applier.__file__, "{source_dsn}", "{target_dsn}"]
    with ServerRoom() as room:
        server = own_target(room, installation)
        conformance = WireConformance(server, command, tmp_path, WireOptions(shrink_s=0))
        results = conformance.run_all(cases_named([]), lambda _: None)
    counted = Counter(one.result.value for one in results)
    print(f"live: wire cases of {family}: {dict(counted)}, {conformance.runs} runs")
    others = {one.case.id: one.reason for one in results if one.result is not Result.PASS}
    logged = {case for case, reason in reasons_of(family).items() if not reason}
    assert {one.case.id for one in results} - set(others) == logged - {FOR_FEW_PROGRAMS}, others
