"""All programs, in the page's order."""

from __future__ import annotations

from ci.programs import pglogical, postgresql, slony

PROGRAMS = (
    *postgresql.PROGRAMS,
    *pglogical.PROGRAMS,
    *slony.PROGRAMS,
)
