"""All programs, in the page's order."""

from __future__ import annotations

from ci.programs import bucardo, londiste, pglogical, postgresql, slony

PROGRAMS = (
    *postgresql.PROGRAMS,
    *pglogical.PROGRAMS,
    *slony.PROGRAMS,
    *bucardo.PROGRAMS,
    *londiste.PROGRAMS,
)
