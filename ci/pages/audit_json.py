"""``docs/audit-json.md`` and the schema of the audit as JSON."""

from __future__ import annotations

import json
import sys

from ci.pages.writing import pages_main
from paraply.reporting.audit.json_parts import AuditDocument
from paraply.reporting.audit.json_schema import page_of, schema_of

PAGE_PATH = "docs/audit-json.md"
SCHEMA_PATH = "paraply/reporting/audit.schema.json"

_INTRODUCTION = """
`paraply audit FILE... --json FILE` writes this document (`-` is standard output). The schema is
[`paraply/reporting/audit.schema.json`](../paraply/reporting/audit.schema.json), JSON Schema
2020-12.
Every field is always there. Keys of histograms and of `speedup` are numbers written as strings, as
JSON wants them. Texts hold what the log holds: characters that could act on a terminal are
written as `\\uXXXX`, so the file is safe to print and equal when parsed.

    paraply audit binlog.000001 --json - | jq -r '.violations[] | "\\(.earlier.gtid) \\(.key)"'

This page is generated from `paraply/reporting/audit/json_parts.py` by
`python -m ci.pages.audit_json --write`.
"""


def pages() -> dict[str, str]:
    """Return the generated page and schema by path."""
    schema = schema_of(AuditDocument, identifier="paraply-audit-1")
    return {
        PAGE_PATH: page_of(AuditDocument, title="The audit as JSON", introduction=_INTRODUCTION),
        SCHEMA_PATH: json.dumps(schema, indent=2) + "\n",
    }


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.audit_json", pages()))
