"""Where each theorem stands to the one model of a group, in words."""

from __future__ import annotations

from paraply.models.claims.claim import Place, Standing


def standing_line(standing: Standing) -> str:
    """Return the line of a theorem's page."""
    if standing.place is Place.OF_THE_GROUP:
        return "Of the group model."
    if standing.place is Place.SMALLER_ONLY:
        return f"Of this smaller model only: {standing.reason}."
    if standing.place is Place.ELSEWHERE:
        return f"About something else than a group: {standing.reason}."
    limit = f", but for {standing.reason}" if standing.reason else ""
    if standing.place is Place.COROLLARY:
        same = f"{_named(standing)} is the same of a group"
        return f"The group model refines this one: {same}{limit}."
    return f"In the group model too: {_named(standing)}{limit}."


def standing_cell(standing: Standing) -> str:
    """Return the cell of the table of all theorems."""
    links = ", ".join(f"[{name}]({name}.md)" for name in _statements(standing))
    part = ", in part" if standing.reason else ""
    if standing.place is Place.COROLLARY:
        return f"{links}, by refinement{part}"
    if standing.place is not Place.THERE_TOO:
        return str(standing.place)
    return f"{links}{part}"


def _named(standing: Standing) -> str:
    return " and ".join(
        f"[{name}]({name}.md) ({', '.join(f'`{one}`' for one in said)})"
        for name, said in _statements(standing).items()
    )


def _statements(standing: Standing) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, statement in standing.by:
        found.setdefault(name, []).append(statement)
    return found
