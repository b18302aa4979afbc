"""Errors of ``paraply watch``."""

from __future__ import annotations

from paraply.vocabulary.errors import register

STATE_UNREADABLE = register(
    "P375",
    "the state cannot be used: {reason}",
    "name another --state file; a watch with a new one begins at the present",
)
STATE_OF_OTHERS = register(
    "P376",
    "the state is one of other targets: {targets}",
    "give the same --target options as before, or another --state file",
)
SAME_SERVER = register(
    "P377",
    "source and target are one server ({identity})",
    "name two servers; one log against itself is judged by paraply verify",
)
MIXED_FAMILIES = register(
    "P378",
    "the source is {source}, the target is {target}: their GTIDs never match",
    "watch servers of one family; paraply verify --by-content judges mixed pairs",
)
CANNOT_LISTEN = register(
    "P379",
    "{address} cannot serve metrics: {reason}",
    "choose another port: --metrics [HOST:]PORT",
)
