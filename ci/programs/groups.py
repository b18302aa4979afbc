"""Members of MySQL Group Replication: the logs of each pair of them have the same transactions."""

from __future__ import annotations

from functools import partial
from itertools import combinations

from ci.programs.mysql_servers import COMMON, SECONDS_MAX, create, load, missing, verified
from ci.programs.program import Program, Task
from ci.programs.replicas import agree
from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.adapters.servers.group_replication import GroupReplication
from paraply.verifying.result import VerifyResult

MEMBERS = 3


def _run(writers: int, judged: slice, required: str, task: Task) -> VerifyResult:
    """Load the first members and judge every pair of the ``judged``; return the weakest result."""
    with ServerRoom(parent=task.folder) as room:
        group = GroupReplication.provision(
            room, find_mysql(), size=MEMBERS, is_multi_primary=writers > 1, options=COMMON
        )
        group.bootstrap()
        create(group.members[0])
        group.wait_until_equal()
        load(*group.members[:writers], task=task)
        group.wait_until_equal(seconds_max=SECONDS_MAX + task.transactions / 100)
        results = []
        for one, other in combinations(group.members[judged], 2):
            by_content = verified(one, other, required=required, by_content=True)
            by_name = verified(one, other, required=required)
            agree(by_name, by_content, per_domain=False)
            results.append(by_name)
    return min(results, key=lambda result: (result.level, result.states.prefixes))


def _group(
    name: str, promise: str, *, required: str, writers: int = 1, judged: slice = slice(None)
) -> Program:
    return Program(
        name=f"mysql-group-{name}",
        promise=promise,
        required=required,
        expected="holds",
        packages="mysql",
        missing=partial(missing, find_mysql),
        version=lambda: find_mysql().version_text,
        run=partial(_run, writers, judged, required),
        in_ci=writers == 1 and required == "atomic",
        can_kill=False,
    )


_ONE_ORDER = (
    "members apply what conflicts in the certified order; a member's own transactions may end "
    "before others that they do not conflict with (by design of Group Replication)"
)
PROGRAMS = (
    _group("one-primary", _ONE_ORDER, required="atomic"),
    _group("multi-primary", _ONE_ORDER, required="atomic", writers=MEMBERS),
    _group(
        "secondaries",
        "members that run no transactions of their own commit in the certified order "
        "(replica_preserve_commit_order=ON; by design)",
        required="prefix",
        judged=slice(1, None),
    ),
)
