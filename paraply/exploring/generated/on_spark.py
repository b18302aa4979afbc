"""Mutants of the reference, judged by Spark's tasks; each worker makes the healthy runs once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice

from paraply.exploring.generated.fates import Judged, Mutant
from paraply.exploring.generated.reference import ReferenceCampaign
from paraply.mining.engines import OnSpark

MUTANTS_OF_A_TASK = 8
"""A task that Spark repeats judges them again."""


def judged_on_spark(
    spark: OnSpark, mutants: Sequence[Mutant], *, each: int, seed: int, where: str = ""
) -> Iterator[Judged]:
    """Yield the fates as ``ReferenceCampaign.judged`` does, in any order."""
    names = (one.name for one in mutants)
    tasks = iter(lambda: tuple(islice(names, MUTANTS_OF_A_TASK)), ())
    for fates in spark.map(partial(_judged, each, seed, where), tasks):
        yield from fates


def _judged(each: int, seed: int, where: str, names: Sequence[str]) -> list[Judged]:
    campaign = _campaign(each, seed, where)
    mutants = [_mutants(campaign, name.partition(":")[0])[name] for name in names]
    return list(campaign.judged(mutants))


@cache
def _campaign(each: int, seed: int, where: str) -> ReferenceCampaign:
    return ReferenceCampaign(each=each, seed=seed, where=where)


@cache
def _mutants(campaign: ReferenceCampaign, module: str) -> Mapping[str, Mutant]:
    return {one.name: one for one in campaign.mutants([module])}
