"""All programs, in the page's order."""

from __future__ import annotations

from ci.programs import postgresql

PROGRAMS = (*postgresql.PROGRAMS,)
