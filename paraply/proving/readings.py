"""Compare both readings of a step: ``python -m paraply.proving.readings``.

Z3 proves weakest preconditions equivalent to truth after the step, and induction again without
substitution. It takes five minutes of CPU for some 10,000 obligations. ``--store`` keeps the
numbers for ``proofs/README.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.proving import patiently
from paraply.models.judging.solver import Answer, Judgment, judge_z3
from paraply.models.language.system import Obligation
from paraply.models.language.transition import readings_agree, two_vocabulary_obligations

TIMEOUT_S = 10.0
RECORD = Path(__file__).resolve().parents[2] / "proofs" / "readings.json"


def _judged(part: Obligation) -> Judgment:
    return patiently(
        lambda limit, seed: judge_z3(part, timeout_s=limit, seed=seed),
        timeout_s=TIMEOUT_S, seed=0,
    )  # fmt: skip


def unproved(parts: Iterable[Obligation]) -> tuple[int, list[Obligation], float]:
    """Return total, unproved obligations and CPU seconds."""
    judgments = [_judged(part) for part in parts]
    left = [one.obligation for one in judgments if one.answer is not Answer.PROVED]
    return len(judgments), left, sum(one.seconds for one in judgments)


def main(argv: Sequence[str] | None = None) -> int:
    """Prove; exit code 1 for unproved obligations."""
    parser = argparse.ArgumentParser(prog="python -m paraply.proving.readings", description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="names (default: all)")
    parser.add_argument("--store", action="store_true", help="keep the numbers of all systems")
    chosen = parser.parse_args(argv)
    totals, left, spent = [0, 0], 0, 0.0
    for system in systems():
        if chosen.systems and system.name not in chosen.systems:
            continue
        found = [unproved(readings_agree(system)), unproved(two_vocabulary_obligations(system))]
        for place, (count, missing, _) in enumerate(found):
            totals[place] += count
            left += len(missing)
            for one in missing:
                print(f"  not proved: {one.system}: {one.statement}/{one.step}")
        seconds = sum(one for _, _, one in found)
        spent += seconds
        print(f"{system.name}: {found[0][0]} equivalences, {found[1][0]} obligations, "
              f"{seconds:.1f} CPU s", flush=True)  # fmt: skip
    print(f"{totals[0]} equivalences and {totals[1]} obligations over two vocabularies, "
          f"{left} not proved")  # fmt: skip
    if chosen.store and not chosen.systems:
        record = {"equivalences": totals[0], "obligations": totals[1], "unproved": left,
                  "cpu_s": round(spent)}  # fmt: skip
        RECORD.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
