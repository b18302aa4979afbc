"""All programs, in the page's order."""

from __future__ import annotations

from ci.programs import debezium, loaders, percona, postgresql, replicas, schema_change

PROGRAMS = (
    *postgresql.PROGRAMS,
    *replicas.PROGRAMS,
    *schema_change.PROGRAMS,
    *percona.PROGRAMS,
    *loaders.PROGRAMS,
    *debezium.PROGRAMS,
)
