"""Judge the published survivors and noticed mutants again, by today's properties.

``python -m ci.mutation.again`` adds the fates that docs/mutation-score-again.jsonl lacks. Those of
mutants that are no longer generated stay out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ci.pages.mutation_score import AGAIN, NOT_CAUGHT, records, records_again
from paraply.exploring.generated.fates import Mutant, as_record
from paraply.exploring.generated.reference import ReferenceCampaign


def left(
    fates: Iterable[Mapping[str, Any]], known: Mapping[str, Any], mutants: Iterable[Mutant]
) -> Sequence[Mutant]:
    """Return today's mutants that no property caught in ``fates``, without a fate in ``known``."""
    names = {one["name"] for one in fates if one["fate"] in NOT_CAUGHT} - known.keys()
    return [one for one in mutants if one.name in names]


def main() -> int:
    """Judge with the seed and number of runs of the sample."""
    note, fates = records()
    campaign = ReferenceCampaign(each=note["each"], seed=note["seed"])
    chosen = left(fates, records_again(), campaign.mutants())
    with AGAIN.open("a", encoding="utf-8") as stored:
        for one in campaign.judged(chosen):
            print(json.dumps(as_record(one), ensure_ascii=False), file=stored, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
