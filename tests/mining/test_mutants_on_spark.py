"""Spark's tasks judge mutants of the reference as one process does."""

from __future__ import annotations

from operator import attrgetter

import pytest

from paraply.exploring.generated.fates import shuffled
from paraply.exploring.generated.on_spark import MUTANTS_OF_A_TASK, judged_on_spark
from paraply.exploring.generated.reference import ReferenceCampaign
from paraply.mining.engines import OnSpark

pytestmark = pytest.mark.xdist_group("spark")

RUNS = {"each": 4, "seed": 1, "where": "gap_free mysql_5_6"}
MODULE = "paraply.reference_impl.mariadb_gtid.gap_free"


@pytest.mark.long
def test_fates_are_those_of_one_process(spark):
    campaign = ReferenceCampaign(**RUNS)
    mutants = shuffled(campaign.mutants([MODULE]), 3)[: MUTANTS_OF_A_TASK + 1]
    by_name = attrgetter("name")
    here = sorted(campaign.judged(mutants), key=by_name)
    there = sorted(judged_on_spark(OnSpark("local[2]", spark), mutants, **RUNS), key=by_name)
    assert there == here
    assert len({one.fate for one in here}) > 1
