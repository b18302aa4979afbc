"""Errors of captured group traffic: the P64x codes."""

from __future__ import annotations

from paraply.vocabulary.errors import register

CAPTURE_REFUSED = register(
    "P640",
    "frames of the loopback interface cannot be captured: {reason}",
    "run as root or with CAP_NET_RAW, or in a network namespace of your own (unshare -rn)",
)
CAPTURE_INCOMPLETE = register(
    "P641",
    "the capture is incomplete: {reason}",
    "start it before the group, on an idle machine, and stop it after the group is at rest",
)
TRAFFIC_UNREADABLE = register(
    "P642",
    "the group's traffic cannot be decoded: {reason}",
    "servers with group_replication_ssl_mode=DISABLED and versions 8.0.22 to 9.7 are read",
)
TRACE_DISAGREES = register(
    "P643",
    "traffic and logs of the group do not fit together: {reason}",
    "give the logs of all members of the same run, none purged",
)
