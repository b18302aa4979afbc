"""All programs, in the page's order."""

from __future__ import annotations

from ci.programs import (
    bucardo,
    debezium,
    groups,
    loaders,
    londiste,
    percona,
    pglogical,
    postgresql,
    replicas,
    schema_change,
    slony,
)

PROGRAMS = (
    *replicas.PROGRAMS,
    *groups.PROGRAMS,
    *schema_change.PROGRAMS,
    *percona.PROGRAMS,
    *loaders.PROGRAMS,
    *debezium.PROGRAMS,
    *postgresql.PROGRAMS,
    *pglogical.PROGRAMS,
    *slony.PROGRAMS,
    *bucardo.PROGRAMS,
    *londiste.PROGRAMS,
)
