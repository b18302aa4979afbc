"""One log audited in one piece and in parts, and logs with something to find."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.properties.logs import audit as readable_audit
from paraply.vocabulary.audit_result import AuditResult
from tests.builders.log_forger import ForgedLog

NOT_COMPARED = {
    "parallelism",
    "width_over_time",
    "blockers",
    "critical_path",
    "assumptions",
}
"""What a part cannot know, as ``DIFFERENCES`` and docs/spark.md say."""
RECORDINGS = Path(__file__).parents[2] / "fixtures" / "binlogs"


def options_by_default(monkeypatch, **defaults):
    """Let audits run with these options where they are not given others."""
    init = readable_audit.AuditOptions.__init__

    def wrapped(self, **given):
        init(self, **{**defaults, **given})

    monkeypatch.setattr(readable_audit.AuditOptions, "__init__", wrapped)


def differences(whole, parts):
    return [
        f"{each.name}: {getattr(whole, each.name)} in parts {getattr(parts, each.name)}"
        for each in fields(AuditResult)
        if each.name not in NOT_COMPARED and getattr(whole, each.name) != getattr(parts, each.name)
    ] + [
        f"work of {one.model}"
        for one, other in zip(whole.parallelism, parts.parallelism, strict=True)
        if (one.model, one.work, one.safe) != (other.model, other.work, other.safe)
    ]


def audit_both(*files, engine="readable", sizes):
    request = AuditRequest(files=tuple(map(str, files)), engine=engine)
    return audit(request), audit_in_parts(request, sizes=sizes)


def random_sizes(seed):
    rng = random.Random(seed)
    return PartSizes(
        block_bytes=rng.choice((4_000, 9_000, 20_000)),
        part_blocks=rng.choice((2, 3, 5)),
        approach_blocks=rng.choice((0, 1, 4)),
    )


def forge_conflicts(path, target, seed):
    """Let some transactions overlap what they must not, at random places."""
    log = ForgedLog.read(path)
    rng = random.Random(seed)
    for at in rng.sample(range(len(log) // 2, len(log)), 12):
        log.set_timestamp(at, last_committed=max(1, at - rng.choice((3, 20))))
    return log.save(target)


def contradict(path, target, seed):
    """Drop some transactions and repeat others, so that rows are not what they were."""
    log = ForgedLog.read(path)
    gtids = log.starts()
    spans = list(zip(gtids, [*gtids[1:], len(log.events) - 1], strict=True))
    rng = random.Random(seed)
    changed = sorted(rng.sample(spans[len(spans) // 5 :], 12), reverse=True)
    for number, (first, last) in enumerate(changed):
        log.events[first:last] = log.events[first:last] * 2 if number % 2 else []
    return log.save(target)
