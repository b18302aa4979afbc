"""Recorded group runs as JSON Lines, gzip-compressed for names in .gz.

A header (version, server, group, members, items), the steps, and a count. Members and items are
indexes into the header.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.group_trace import (
    ExecutedSetDelivered,
    GroupTrace,
    InfoDonated,
    LoggedDecision,
    MemberRecovered,
    Step,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GtidSet
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set
from paraply.vocabulary.input_documents import parse_json, pieces

MALFORMED_GROUP_TRACE = register(
    "P530",
    "this is not a recorded group run: {reason}",
    "record it again: python -m ci.record_group_trace",
)
FORMAT_VERSION = 1
TEXT_BYTES_MAX = 1 << 29
"""Enough for a million transactions."""


def write_group_trace(trace: GroupTrace, path: Path) -> None:
    """Write a run reproducibly."""
    text = "".join(line + "\n" for line in _lines(trace)).encode("utf-8")
    path.write_bytes(gzip.compress(text, 9, mtime=0) if path.suffix == ".gz" else text)


def read_group_trace(path: Path) -> GroupTrace:
    """Read a run; P530, with the line unless cut off."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            text = b"".join(pieces(stream, TEXT_BYTES_MAX + 1))
        if len(text) > TEXT_BYTES_MAX:
            raise ValueError(f"it has more than {TEXT_BYTES_MAX} bytes")
        lines = io.StringIO(text.decode("utf-8")).readlines()
        header, *rest = map(parse_json, lines)
        if header["format_version"] != FORMAT_VERSION or rest[-1] != {"steps": len(rest) - 1}:
            raise ValueError("its version is not known, or its end is missing")
        reader = _Reader(header)
        steps: list[Step] = []
        for record in rest[:-1]:
            number = len(steps) + 2
            steps.append(reader.step(record))
        return GroupTrace(
            server_version=header["server_version"],
            group_name=header["group_name"],
            block_size=header["block_size"],
            is_multi_primary=header["is_multi_primary"],
            members=tuple(header["members"]),
            steps=tuple(steps),
        )
    except ParaplyError:
        raise
    except (OSError, EOFError, ValueError, KeyError, IndexError, TypeError) as reason:
        raise ParaplyError(
            MALFORMED_GROUP_TRACE, where=f"{path}:{number}" if number else str(path), reason=reason
        ) from reason


def _lines(trace: GroupTrace) -> Iterator[str]:
    items: dict[str, int] = {}
    for step in trace.steps:
        for item in step.items if isinstance(step, TransactionDelivered) else ():
            items.setdefault(item, len(items))
        for item in step.info if isinstance(step, InfoDonated) else ():
            items.setdefault(item, len(items))
    members = {uuid: number for number, uuid in enumerate(trace.members)}
    yield _json(
        {
            "format_version": FORMAT_VERSION,
            "server_version": trace.server_version,
            "group_name": trace.group_name,
            "block_size": trace.block_size,
            "is_multi_primary": trace.is_multi_primary,
            "members": trace.members,
            "items": list(items),
        }
    )
    for step in trace.steps:
        yield _json(_record(step, members, items))
    yield _json({"steps": len(trace.steps)})


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _record(step: Step, members: dict[str, int], items: dict[str, int]) -> dict[str, Any]:
    match step:
        case TransactionDelivered():
            record: dict[str, Any] = {
                "transaction": members[step.origin],
                "snapshot": str(step.snapshot),
                "items": [items[item] for item in step.items],
            }
            if step.specified is not None:
                record["specified"] = str(step.specified)
            if step.is_create_select:
                record["create_select"] = True
            if step.is_empty:
                record["empty"] = True
            record["decided"] = [
                [members[uuid], str(d.gtid), d.last_committed, d.sequence_number]
                for uuid, d in sorted(step.decided.items())
            ]
            return record
        case ExecutedSetDelivered():
            return {"executed_of": members[step.sender], "executed": str(step.executed)}
        case ViewInstalled():
            return {
                "view": [members[uuid] for uuid in step.members],
                "joined": [members[uuid] for uuid in step.joined],
                "left": [members[uuid] for uuid in step.left],
                "executed": [[members[uuid], str(s)] for uuid, s in step.executed.items()],
            }
        case MemberRecovered():
            return {"recovered": members[step.member]}
        case InfoDonated():
            return {
                "donated": [[items[item], str(version)] for item, version in step.info.items()],
                "extracted": str(step.extracted),
            }


class _Reader:
    def __init__(self, header: dict[str, Any]) -> None:
        self._members: list[str] = header["members"]
        self._items: list[str] = header["items"]

    def step(self, record: dict[str, Any]) -> Step:
        members, items = self._members, self._items
        if "transaction" in record:
            return TransactionDelivered(
                origin=members[record["transaction"]],
                snapshot=_gtid_set(record["snapshot"]),
                items=tuple(items[index] for index in record["items"]),
                specified=parse_gtid(record["specified"]) if "specified" in record else None,
                is_create_select=record.get("create_select", False),
                is_empty=record.get("empty", False),
                decided={
                    members[index]: LoggedDecision(parse_gtid(gtid), last, sequence)
                    for index, gtid, last, sequence in record["decided"]
                },
            )
        if "executed_of" in record:
            return ExecutedSetDelivered(
                sender=members[record["executed_of"]], executed=_gtid_set(record["executed"])
            )
        if "view" in record:
            return ViewInstalled(
                members=tuple(members[index] for index in record["view"]),
                joined=tuple(members[index] for index in record["joined"]),
                left=tuple(members[index] for index in record["left"]),
                executed={members[index]: _gtid_set(s) for index, s in record["executed"]},
            )
        if "recovered" in record:
            return MemberRecovered(member=members[record["recovered"]])
        return InfoDonated(
            extracted=_gtid_set(record["extracted"]),
            info={items[index]: _gtid_set(version) for index, version in record["donated"]},
        )


def _gtid_set(text: str) -> GtidSet:
    return parse_gtid_set(text) if text else EMPTY_GTID_SET
