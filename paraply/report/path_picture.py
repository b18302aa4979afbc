"""The critical path as a picture: transactions along the log, an arc for each that had to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from paraply.report.escape import shortened
from paraply.report.svg import WIDTH, picture
from paraply.report.words import name_of
from vocabulary.audit_result import PathLink

NAMED_REASONS_MAX = 5
"""As many colours as can be told apart; the rest share one."""

_MARGIN, _HEIGHT, _BASE = 24, 220, 186


def reasons_by_frequency(links: Sequence[PathLink]) -> list[str]:
    """Return the most frequent reasons for waiting, which get a colour of their own."""
    counted = Counter(link.because for link in links if link.because)
    return [reason for reason, _ in counted.most_common(NAMED_REASONS_MAX)]


def reason_colour(link: PathLink, named: Sequence[str]) -> int:
    """Return the number of the colour of a link's reason; the last one is for all others."""
    return named.index(link.because) if link.because in named else NAMED_REASONS_MAX


def path_picture(links: Sequence[PathLink]) -> Markup:
    """Return arcs from each transaction to the one it waits for, linked to its entry in the list.

    The picture is drawn in log order; where the middle of a long path was left out, an arc is
    missing and the gap shows.
    """
    named = reasons_by_frequency(links)
    first, last = links[0].transaction.ordinal, links[-1].transaction.ordinal
    span = max(1, last - first)

    def across(ordinal: int) -> float:
        if first == last:
            return WIDTH / 2
        return _MARGIN + (ordinal - first) / span * (WIDTH - 2 * _MARGIN)

    heaviest = max(link.work for link in links)
    shown = {link.transaction.ordinal for link in links}
    arcs, nodes = [], []
    for link in links:
        ordinal = link.transaction.ordinal
        x = across(ordinal)
        label = f"{shortened(name_of(link.transaction), 80)}"
        if link.waits_for in shown:
            start = across(link.waits_for)
            # Half an ellipse; long waits rise high but stay inside the picture.
            rise = min(_BASE - 20, 14 + (x - start) * 0.6)
            arcs.append(
                Markup(
                    '<a href="#link-{}"><path class="arc r{}" d="M{:.1f} {}A{:.1f} {:.1f} 0 0 1 '
                    '{:.1f} {}"><title>{} waits: {}</title></path></a>'
                ).format(
                    ordinal,
                    reason_colour(link, named),
                    start,
                    _BASE,
                    (x - start) / 2,
                    rise,
                    x,
                    _BASE,
                    label,
                    shortened(link.because, 120),
                )
            )
        nodes.append(
            Markup(
                '<a href="#link-{}"><circle class="node" cx="{:.1f}" cy="{}" r="{:.1f}">'
                "<title>{}: {} steps</title></circle></a>"
            ).format(ordinal, x, _BASE, 2.5 + 4 * link.work / max(1, heaviest), label, link.work)
        )
    axis = Markup(
        '<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<text x="{}" y="{}">transaction {:,}</text>'
        '<text x="{}" y="{}" text-anchor="end">transaction {:,}</text>'
    ).format(
        _MARGIN, _BASE, WIDTH - _MARGIN, _BASE,
        _MARGIN, _HEIGHT - 8, first,
        WIDTH - _MARGIN, _HEIGHT - 8, last,
    )  # fmt: skip
    return picture(
        "The critical path over the log",
        f"{len(links)} transactions from number {first} to {last}; each arc is a wait. "
        "The list below says the same.",
        _HEIGHT,
        [axis, *arcs, *nodes],
    )
