"""Values held against a JSON Schema, by the library that others use for it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema.protocols import Validator
from jsonschema.validators import validator_for


def validator(schema) -> Validator:
    """Return the validator of a schema that is itself valid."""
    kind = validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def faults(value, schema):
    """Return each way in which ``value`` does not fit ``schema``, with the place in the value."""
    found = validator(schema).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in found]


@cache
def published_sarif() -> Validator:
    """Return SARIF 2.1.0, errata 1, as OASIS publishes it (docs.oasis-open.org/sarif/sarif)."""
    path = Path(__file__).parents[1] / "data" / "sarif" / "sarif-schema-2.1.0.json"
    return validator(json.loads(path.read_text()))


def run_of_sarif(text):
    """Return the one run of a SARIF document that the published schema accepts."""
    document = json.loads(text)
    assert [error.message for error in published_sarif().iter_errors(document)] == []
    (run,) = document["runs"]
    # Code scanning refuses a document with a result that has no place.
    if "invocations" not in run:
        assert all(result["locations"] for result in run["results"])
    return run
