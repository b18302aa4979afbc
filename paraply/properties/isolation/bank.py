"""Banks: transfers keep the total of all accounts.

A changed total refutes consistent view (PL-2+) and every level above: a partial or overwritten
transfer. A constant total proves no level.
"""

from __future__ import annotations

from collections.abc import Iterable

from paraply.properties.isolation.breaches import TotalChanged
from paraply.properties.isolation.judging import Finding, LevelFinding
from paraply.properties.isolation.phenomena import LEVELS, Phenomenon
from paraply.vocabulary.verdict import Verdict

BANK_TOTAL = Phenomenon(
    label="bank total",
    fact="totals_are_constant",
    meaning="a read of all accounts shows another total, though transfers only move money",
    breach=TotalChanged,
)


def judge_bank(
    totals: Iterable[tuple[str, int]], *, expected: int | None = None
) -> tuple[Finding, tuple[LevelFinding, ...]]:
    """Judge reads of all accounts.

    Args:
        totals: reader and sum of each read.
        expected: by default the first sum.
    """
    reads = list(totals)
    if expected is None and reads:
        expected = reads[0][1]
    breaches = tuple(
        TotalChanged(reader=reader, total=total, expected=expected)
        for reader, total in reads
        if expected is not None and total != expected
    )
    verdict, reason = Verdict.HOLDS, ""
    if breaches:
        verdict = Verdict.VIOLATED
    elif not reads:
        verdict, reason = Verdict.UNKNOWN, "no read of the accounts succeeded"
    finding = Finding(
        phenomenon=BANK_TOTAL, verdict=verdict, reason=reason, breaches=breaches,
        did_occur=bool(reads),
    )  # fmt: skip
    return finding, tuple(
        LevelFinding(level=level, verdict=Verdict.VIOLATED, because=(BANK_TOTAL.label,))
        if breaches and "G-single" in level.forbids
        else LevelFinding(
            level=level, verdict=Verdict.UNKNOWN, because=("a bank shows totals, and no versions",)
        )
        for level in LEVELS
    )
