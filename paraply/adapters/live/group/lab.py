"""Live MySQL Group Replication: one run per round."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.adapters.live.group.confirmations import NOBODY_CUT_OFF
from paraply.adapters.live.group.run import MEMBERS, GroupRun, record_group_run
from paraply.adapters.live.group.story import history_of_trace
from paraply.adapters.live.group.target import DEPARTURES, MULTI_PRIMARY
from paraply.adapters.live.target import HEALTHY, LiveRequest, LiveRound
from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.vocabulary.group_trace import ViewInstalled

ONE_WRITER = {
    "own_transactions_commit_after_what_they_saw": "one member writes at a time, and its backlog"
    " seldom has rows that it writes next"
}


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield rounds, each on its own group."""
    installation = find_mysql(request.basedir)
    for number in range(1, request.rounds + 1):
        request.say(f"round {number} of {request.rounds}")
        seed = request.seed + number - 1
        with ServerRoom(keep=request.keep) as room:
            recorded = record_group_run(
                room,
                installation,
                transactions=request.transactions,
                seed=seed,
                is_multi_primary=request.mode == MULTI_PRIMARY,
                departure=DEPARTURES[request.fault],
                struck=struck_member(request, seed),
                writers=max(1, request.clients // 3),
                workload=request.workload,
                say=request.say,
            )
        yield told(request, number, seed, recorded)


def struck_member(request: LiveRequest, seed: int) -> int:
    """Return the leaving member: the last in order, by the seed under faults.

    In single-primary mode 0 is the primary.
    """
    return MEMBERS - 1 if request.fault == HEALTHY else seed % MEMBERS


def told(request: LiveRequest, number: int, seed: int, recorded: GroupRun) -> LiveRound:
    """Return a recorded run as a round."""
    trace = recorded.trace
    refused = sum(not step.decided for step in trace.transactions)
    delivered = {str(one.gtid) for step in trace.transactions for one in step.decided.values()}
    logged = {one.gtid for log in recorded.seen.logs.values() for one in log}
    differing = sorted(name for name, sums in recorded.checksums.items() if len(sums) > 1)
    evidence: dict[str, int | str] = {
        "server": trace.server_version,
        "transactions": len(trace.transactions),
        "refused": refused,
        "conflicts_detected": max(recorded.conflicts_detected.values(), default=0),
        "committed": recorded.outcomes.get("committed", 0),
        "views": sum(isinstance(step, ViewInstalled) for step in trace.steps),
        "differing_tables": ", ".join(differing),
        "reads": sum(map(len, recorded.seen.snapshots.values())),
        "unknown_gtids": len(logged - delivered),
    }
    return LiveRound(
        number=number,
        seed=seed,
        history=history_of_trace(
            trace,
            seed=seed,
            options={
                "mode": request.mode,
                "fault": request.fault,
                "workload": request.workload,
                "round": number,
            },
            clients=recorded.clients,
            seen=recorded.seen,
        ).check(),
        evidence=evidence,
        trace=trace,
        unknown=({} if recorded.clients.cut_off else NOBODY_CUT_OFF)
        | ({} if request.mode == MULTI_PRIMARY else ONE_WRITER),
        notes=(
            *(f"members end with different rows in {name}" for name in differing),
            *([] if request.fault == HEALTHY else [f"{request.fault} struck {recorded.struck}"]),
            *recorded.notes,
        ),
    )
