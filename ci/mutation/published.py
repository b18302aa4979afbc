"""Judge some published mutants of judges again: are those that were caught still caught?

``python -m ci.mutation.published --sample 6 --seed 1`` takes mutants that one test file caught.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from ci.mutation.judges import OWN_TESTS, JudgeCampaign
from ci.mutation.own_tests import OwnTests, with_tests
from ci.pages.judge_score import records
from ci.pages.writing import ROOT
from paraply.exploring.generated.fates import Fate
from paraply.number_arguments import positive


def main() -> int:
    """Return 1 if a mutant is no longer caught."""
    parser = argparse.ArgumentParser(prog="python -m ci.mutation.published", description=__doc__)
    parser.add_argument("--sample", type=positive, default=6, metavar="N", help="mutants (6)")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    given = parser.parse_args()
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    _, fates = records()
    caught = [one for one in fates if one["fate"] == Fate.CAUGHT.value and one["where"]]
    draw = Random(given.seed)
    file = draw.choice(sorted({one["where"].partition("::")[0] for one in caught}))
    of_file = [one["name"] for one in caught if one["where"].startswith(f"{file}::")]
    names = set(draw.sample(of_file, min(given.sample, len(of_file))))
    modules = sorted({name.partition(":")[0] for name in names})
    missed: list[str] = []
    judged: list[str] = []

    def run(tests: OwnTests) -> None:
        sources = [Path(str(import_module(one).__file__)) for one in modules]
        with TemporaryDirectory() as folder:
            tests.record(str(ROOT / "paraply"), Path(folder) / "calls.jsonl", sources, 1)
        campaign = JudgeCampaign(tests, own=dict.fromkeys(OWN_TESTS, (file,)))
        chosen = [one for one in campaign.mutants(modules) if one.name in names]
        for one in campaign.judged(chosen):
            judged.append(one.name)
            if one.fate is not Fate.CAUGHT:
                missed.append(one.name)

    code = with_tests([file], run)
    sys.stdout.write(f"{file}: {len(judged)} of {len(names)} published mutants judged again\n")
    sys.stdout.writelines(f"no longer caught: {name}\n" for name in missed)
    return code or int(bool(missed) or not judged)


if __name__ == "__main__":
    sys.exit(main())
