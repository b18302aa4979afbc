"""The timeline of source states by target commit."""

from __future__ import annotations

from markupsafe import Markup, escape

from paraply.verifying.result import VerifyResult, WitnessFinding

WIDTH, HEIGHT = 900, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 10, 12, 36


def timeline_picture(result: VerifyResult) -> Markup:
    """Return the picture, empty without judged target commits.

    The line shows prefixes; dots mark other commits at their furthest source commit.
    """
    samples = result.timeline
    if not samples:
        return Markup("")
    last = max(2, samples[-1][0])
    most = max(1, result.source.judged)
    runs: list[list[tuple[float, float]]] = [[]]
    dots = []
    for number, position, furthest in samples:
        if position is None:
            dots.append((_x(number, last), _y(furthest, most)))
            if runs[-1]:
                runs.append([])
        else:
            runs[-1].append((_x(number, last), _y(position, most)))
    parts = []
    for run in runs:
        if run:
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*run, run[-1]))
            parts.append(f'<polyline class="prefix" points="{points}"/>')
    parts += [f'<circle class="between" cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in dots]
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    title = "Which source state each target commit shows"
    return Markup(
        f'<svg class="timeline" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>'
        f'<text x="{_LEFT - 6}" y="{_TOP + 8}" text-anchor="end">{most:,}</text>'
        f'<text x="{_LEFT - 6}" y="{bottom}" text-anchor="end">0</text>'
        f'<text x="{_LEFT}" y="{HEIGHT - 8}">1</text>'
        f'<text x="{right}" y="{HEIGHT - 8}" text-anchor="end">{last:,} target commits</text>'
        f'<text x="4" y="{_TOP + 26}">source</text>'
        + "".join(parts)
        + f'<line id="marker" class="marker" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{bottom}"/>'
        "</svg>"
    )


def marker_of(result: VerifyResult, witness: WitnessFinding) -> Markup:
    """Return a witness's horizontal place."""
    last = max(2, result.timeline[-1][0] if result.timeline else 2)
    return escape(f"{_x(max(1, witness.target_number), last):.1f}")


def _x(number: int, last: int) -> float:
    return _LEFT + (number - 1) / (last - 1) * (WIDTH - _LEFT - _RIGHT)


def _y(position: int, most: int) -> float:
    return HEIGHT - _BOTTOM - position / most * (HEIGHT - _TOP - _BOTTOM)
