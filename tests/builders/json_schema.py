"""A validator for the part of JSON Schema that paraply's generator writes, and nothing more.

It refuses keywords that it does not know, so a schema that outgrows it fails loudly.
"""

from __future__ import annotations

_TYPES = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}
_KNOWN = {
    "$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties", "required",
    "additionalProperties", "items", "enum", "anyOf",
}  # fmt: skip


def faults(value, schema, root=None, path="$"):
    """Return each way in which ``value`` does not fit ``schema``, with the place in the value."""
    root = schema if root is None else root
    unknown = set(schema) - _KNOWN
    if unknown:
        raise ValueError(f"{path}: schema keywords {sorted(unknown)} are not checked")
    if "$ref" in schema:
        part = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return faults(value, part, root, path)
    if "anyOf" in schema:
        if any(not faults(value, option, root, path) for option in schema["anyOf"]):
            return []
        return [f"{path}: {value!r} fits no alternative"]
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{path}: {value!r} is not in the list"]
    if not _TYPES[schema["type"]](value):
        return [f"{path}: {value!r} is no {schema['type']}"]
    found = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += faults(item, schema["items"], root, f"{path}[{index}]")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        others = schema["additionalProperties"]
        found += [f"{path}: {name} is missing" for name in schema.get("required", ())
                  if name not in value]  # fmt: skip
        for name, item in value.items():
            if name in properties:
                found += faults(item, properties[name], root, f"{path}.{name}")
            elif others is False:
                found.append(f"{path}: {name} is not in the schema")
            else:
                found += faults(item, others, root, f"{path}.{name}")
    return found
