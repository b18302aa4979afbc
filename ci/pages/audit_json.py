"""``docs/audit-json.md`` and its schema."""

from __future__ import annotations

import inspect
import json
import sys

from ci.pages.writing import filled, pages_main, table
from paraply.reporting.audit.json_parts import AuditDocument
from paraply.reporting.audit.json_schema import (
    fields_of,
    heading_of,
    parts_of,
    schema_of,
    type_words,
)

PAGE_PATH = "docs/audit-json.md"
SCHEMA_PATH = "paraply/reporting/audit.schema.json"


def fields_page(document: type) -> list[str]:
    """Return a section per part."""
    lines = []
    for part in parts_of(document):
        lines += [f"## {heading_of(part)}", "", inspect.cleandoc(part.__doc__ or ""), ""]
        rows = [[f"`{name}`", type_words(kind), what] for name, kind, what in fields_of(part)]
        lines += [*table(["field", "type", "meaning"], rows), ""]
    return lines[:-1]


def pages() -> dict[str, str]:
    """Return page and schema by path."""
    schema = schema_of(AuditDocument, identifier="paraply-audit-1")
    return {
        PAGE_PATH: filled(PAGE_PATH, {"fields": fields_page(AuditDocument)}),
        SCHEMA_PATH: json.dumps(schema, indent=2) + "\n",
    }


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.audit_json", pages()))
