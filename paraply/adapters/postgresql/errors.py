"""Errors of PostgreSQL change streams."""

from __future__ import annotations

from paraply.vocabulary.errors import register

MALFORMED_STREAM = register(
    "P131",
    "the change stream is malformed: {reason}",
    "capture it again with pgoutput (proto_version 1, no streaming) or test_decoding; see "
    "docs/verify.md",
)
