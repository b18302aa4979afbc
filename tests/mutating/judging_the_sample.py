"""``python -m tests.mutating.judging_the_sample FOLDER N``: judge N mutants of ``sample``."""

import argparse
import sys
from pathlib import Path

from ci.mutation.differing import Input
from ci.mutation.judges import INPUTS_MIN, JudgeCampaign, ordered
from ci.mutation.own_tests import with_tests
from ci.mutation.sampling import Sample, sampling_options
from paraply.mutating.patches import key_of
from tests.mutating import sample

OWN = "tests/mutating/own_tests_of_sample.py"
HERE = Path(__file__).parent


def inputs():
    """Pairs of numbers, some equal."""
    reached = frozenset({key_of(sample.greater.__code__)})
    for number in range(INPUTS_MIN):
        pair = number % 7, number % 5

        def answer(pair=pair):
            return (str(sample.greater(*pair)),)

        yield Input(f"pair {pair}", answer, answer(), reached)


def main():
    parser = argparse.ArgumentParser()
    sampling_options(parser)
    given = parser.parse_args()

    def run(tests):
        tests.record(str(HERE), given.store / "calls.jsonl", [HERE / "sample.py"], 1)
        print("failing", tests.failing)
        campaign = JudgeCampaign(tests, list(inputs()), {"tests.mutating.sample": (OWN,)})
        Sample(given, "judges").run(campaign.mutants(), campaign.judged, order=ordered)

    return with_tests([OWN], run)


if __name__ == "__main__":
    sys.exit(main())
