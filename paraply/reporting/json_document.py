"""JSON documents: each is an object that begins with the version of paraply."""

from __future__ import annotations

import json
from collections.abc import Mapping

from paraply.version import VERSION


def json_document(fields: Mapping[str, object]) -> str:
    """Return the text of a document with these fields, in this order."""
    return json.dumps({"paraply": VERSION, **fields}, indent=2, ensure_ascii=True) + "\n"
