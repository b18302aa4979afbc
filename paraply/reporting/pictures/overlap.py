"""Why two transactions may overlap, as a picture."""

from __future__ import annotations

from markupsafe import Markup

from paraply.reporting.pictures.svg import WIDTH, picture
from paraply.reporting.words import why_they_may_overlap
from paraply.vocabulary.audit_result import SafetyViolation

_HEIGHT, _LINE = 86, 46
_BOUND, _A, _B = 300, 430, 560
"""The order is exact; distances are not."""


def overlap_picture(violation: SafetyViolation) -> Markup | None:
    """Return the scheme under MySQL's logical clock, else None."""
    earlier, later = violation.earlier, violation.later
    why = why_they_may_overlap(violation)
    if earlier.sequence_number is None or later.last_committed is None or not why:
        return None
    parts = [
        Markup('<rect class="waited" x="20" y="{}" width="{}" height="20" rx="3"/>').format(
            _LINE - 10, _BOUND - 20
        ),
        Markup('<line class="grid" x1="20" y1="{0}" x2="{1}" y2="{0}"/>').format(_LINE, WIDTH - 20),
        Markup('<line class="bound" x1="{0}" y1="18" x2="{0}" y2="{1}"/>').format(
            _BOUND, _LINE + 22
        ),
        _text(_BOUND - 8, 22, "end", "B waits for all of these"),
        _text(_BOUND - 8, _HEIGHT - 8, "end", f"last_committed of B: {later.last_committed}"),
        _text(WIDTH - 20, 22, "end", "B may start while these still run"),
        _transaction(_A, "A", f"{earlier.sequence_number}"),
        _transaction(_B, "B", f"{later.sequence_number}"),
        _text(WIDTH - 20, _HEIGHT - 8, "end", "sequence_number"),
    ]
    return picture("Why A and B may overlap", why, _HEIGHT, parts)


def _transaction(x: float, name: str, below: str) -> Markup:
    return Markup(
        '<circle class="actor" cx="{0}" cy="{1}" r="12"/>'
        '<text class="actor" x="{0}" y="{2}" text-anchor="middle">{3}</text>'
        '<text x="{0}" y="{4}" text-anchor="middle">{5}</text>'
    ).format(x, _LINE, _LINE + 4.5, name, _HEIGHT - 8, below)


def _text(x: float, y: float, anchor: str, text: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)
