"""The critical path as arcs between transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from paraply.reporting.escape import shortened
from paraply.reporting.pictures.svg import WIDTH, picture
from paraply.reporting.words import name_of
from paraply.vocabulary.audit_result import PathLink
from paraply.vocabulary.counting import counted

NAMED_REASONS_MAX = 5
"""Distinguishable colours; further reasons share one."""

_MARGIN, _BELOW, _RISE_MAX = 24, 36, 150


def reasons_by_frequency(links: Sequence[PathLink]) -> list[str]:
    """Return the most frequent reasons for waiting."""
    counted = Counter(link.because for link in links if link.waits_for)
    return [reason for reason, _ in counted.most_common(NAMED_REASONS_MAX)]


def reason_colour(link: PathLink, named: Sequence[str]) -> int:
    """Return a reason's colour number; the last is for all others."""
    return named.index(link.because) if link.because in named else NAMED_REASONS_MAX


def path_picture(links: Sequence[PathLink]) -> Markup:
    """Return arcs from each transaction to the one it waits for, with links.

    An omitted middle shows as a gap.
    """
    named = reasons_by_frequency(links)
    first, last = links[0].transaction.ordinal, links[-1].transaction.ordinal
    span = max(1, last - first)

    def across(ordinal: int) -> float:
        if first == last:
            return WIDTH / 2
        return _MARGIN + (ordinal - first) / span * (WIDTH - 2 * _MARGIN)

    shown = {link.transaction.ordinal for link in links}
    # Half an ellipse each; long waits rise high inside the picture.
    rises = {
        link.transaction.ordinal: min(
            _RISE_MAX, 14 + (across(link.transaction.ordinal) - across(link.waits_for)) * 0.6
        )
        for link in links
        if link.waits_for in shown
    }
    base = max(rises.values(), default=0) + 18
    # Dots may touch but not hide each other.
    largest = max(2.2, min(7.0, (WIDTH - 2 * _MARGIN) / len(links) / 2 * 0.8))
    heaviest = max(link.work for link in links)
    arcs, nodes = [], []
    for link in links:
        ordinal = link.transaction.ordinal
        label = shortened(name_of(link.transaction), 80)
        if ordinal in rises:
            start, end = across(link.waits_for), across(ordinal)
            arcs.append(
                Markup(
                    '<a href="#link-{}"><path class="arc r{}" d="M{:.1f} {:.1f}A{:.1f} {:.1f} 0 0 '
                    '1 {:.1f} {:.1f}"><title>{} waits: {}</title></path></a>'
                ).format(
                    ordinal,
                    reason_colour(link, named),
                    start,
                    base,
                    (end - start) / 2,
                    rises[ordinal],
                    end,
                    base,
                    label,
                    shortened(link.because, 120),
                )
            )
        nodes.append(
            Markup(
                '<a href="#link-{}"><circle class="node" cx="{:.1f}" cy="{:.1f}" r="{:.1f}">'
                "<title>{}: {} steps</title></circle></a>"
            ).format(
                ordinal,
                across(ordinal),
                base,
                largest * (0.4 + 0.6 * link.work / max(1, heaviest)),
                label,
                link.work,
            )
        )
    height = base + _BELOW
    axis = Markup(
        '<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<text x="{}" y="{}">transaction {:,}</text>'
        '<text x="{}" y="{}" text-anchor="end">transaction {:,}</text>'
    ).format(
        _MARGIN, base, WIDTH - _MARGIN, base,
        _MARGIN, height - 8, first,
        WIDTH - _MARGIN, height - 8, last,
    )  # fmt: skip
    return picture(
        "The critical path over the log",
        f"{counted(len(links), 'transaction')} from number {first} to {last}; each arc is a wait. "
        "The list below says the same.",
        height,
        [axis, *arcs, *nodes],
        has_links=True,
    )
