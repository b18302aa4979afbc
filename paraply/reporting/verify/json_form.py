"""``paraply verify`` as JSON (docs/verify.md)."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import IntEnum
from typing import Any

from paraply.properties.two_logs.judgement import Level
from paraply.reporting.escape import ascii_escaped
from paraply.reporting.evidence import evidence_json
from paraply.reporting.verify import words
from paraply.verifying.result import VerifyResult
from paraply.version import VERSION
from paraply.vocabulary.verdict import Verdict

FORMAT_VERSION = 1


def verify_document(result: VerifyResult) -> dict[str, Any]:
    """Return plain values; enums are words."""
    document: dict[str, Any] = {
        "paraply": VERSION,
        "format": FORMAT_VERSION,
        **_plain(asdict(result)),
        "headline": words.headline(result),
        "situations": evidence_json(result.evidence),
        "levels_of_wl4648": {
            "any_time": result.any_time,
            "most_of_the_time": (
                result.states.prefixes / result.states.commits if result.states.commits else None
            ),
            "eventual": result.eventual,
        },
        "nothing_seen_twice": result.delivery.nothing_seen_twice,
    }
    return document


def verify_json(result: VerifyResult) -> str:
    """Return the document with final newline."""
    text = json.dumps(verify_document(result), ensure_ascii=False, allow_nan=False, indent=2)
    return ascii_escaped(text) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Level | Verdict):
        return value.word
    if isinstance(value, IntEnum):
        return value.name.lower()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
