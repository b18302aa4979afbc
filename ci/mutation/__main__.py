"""Judge generated mutants into a file that a later run continues.

``python -m ci.mutation --sample 500 --seed 1`` runs mutants of the reference in a random order,
``python -m ci.mutation judges`` those of the judges, ``python -m ci.mutation named`` searches for
the named ones, ``python -m ci.mutation suite`` runs faulty appliers through the conformance suite.
With ``--master`` Spark's tasks judge those of the reference.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from ci.mutation import judges, named, suite
from ci.mutation.sampling import Sample, sampling_options
from ci.pages.mutation_score import RECORDS
from paraply.exploring.generated.fates import Judged, Mutant
from paraply.exploring.generated.on_spark import judged_on_spark
from paraply.exploring.generated.reference import RUNS_EACH, ReferenceCampaign
from paraply.mining.engines import OnSpark
from paraply.number_arguments import positive


def main(arguments: list[str] | None = None) -> int:
    """Run a sample and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m ci.mutation", description=__doc__)
    sampling_options(parser)
    parser.add_argument(
        "--each", type=positive, default=RUNS_EACH, metavar="N", help="healthy runs"
    )
    parser.add_argument("--master", metavar="M", help="judge on Spark, as paraply mine --master")
    given = parser.parse_args(arguments)
    sample = Sample(given, "reference")
    if given.publish:
        sample.publish(RECORDS)
        return 0
    campaign = ReferenceCampaign(each=given.each, seed=given.seed)

    def on_spark(mutants: Sequence[Mutant], **_: int) -> Iterator[Judged]:
        return judged_on_spark(OnSpark(given.master), mutants, each=given.each, seed=given.seed)

    judge = on_spark if given.master else campaign.judged
    sample.run(campaign.mutants(), judge, each=given.each)
    return 0


if __name__ == "__main__":
    others = {"judges": judges.main, "named": named.main, "suite": suite.main}
    chosen = others.get(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.exit(chosen(sys.argv[2:]) if chosen else main())
