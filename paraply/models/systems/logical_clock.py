"""Rules of the logical clock that several models share."""

from __future__ import annotations

from paraply.models.language.simulation import Words
from paraply.models.language.system import System, Updates
from paraply.models.language.terms import Term


def reaches(last_committed: Term, sequence_number: Term) -> Term:
    """Return the start rule: ``last_committed`` waits for ``sequence_number``.

    Both belong to one clock run.
    """
    return sequence_number <= last_committed


def restarted(system: System) -> Updates:
    """Return the joiner rule: counters start again, imported items have no number."""
    words = Words(system)
    return {
        words.next_sn: lambda: 2,
        words.lc_global: lambda: 1,
        words.has: lambda r: words.imported(r),
        words.item_sn: lambda r: 0,
    }
