"""JSON documents, which begin with the version of paraply."""

from __future__ import annotations

import json
from collections.abc import Mapping

from paraply.version import VERSION


def json_document(fields: Mapping[str, object]) -> str:
    """Return a document with these fields in order."""
    return json.dumps({"paraply": VERSION, **fields}, indent=2, ensure_ascii=True) + "\n"
