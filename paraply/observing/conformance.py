"""Compare a live group's decisions with the reference certifier.

A history has neither snapshots nor a reference, so this is no property.
"""

from __future__ import annotations

from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.group.recorded import compare_with_reference
from paraply.vocabulary.group_trace import GroupTrace

NAME = "servers_decide_as_the_reference"
MEANING = (
    "Verdict, GTID, last_committed and sequence_number of every transaction at every member are"
    " those that the certifier of the reference gives for the stream that was delivered."
)
_FAMILY = "mysql_"


def dialect_for(server_version: str) -> str:
    """Return the certifier's newest MySQL dialect up to a version, else the oldest.

    >>> dialect_for("MySQL 9.7.4")
    'mysql_9_7'
    """
    asked = tuple(int(one) for one in server_version.split()[-1].split(".")[:2])
    known = sorted(
        tuple(int(one) for one in name.removeprefix(_FAMILY).split("_"))
        for name in DIALECTS
        if name.startswith(_FAMILY)
    )
    chosen = max((one for one in known if one <= asked), default=known[0])
    return _FAMILY + "_".join(map(str, chosen))


def compare(trace: GroupTrace) -> tuple[list[str], dict[str, int]]:
    """Return the differences and comparison counts."""
    compared = compare_with_reference(trace, dialect_for(trace.server_version))
    return [str(one) for one in compared.differences], {
        "remote_decisions_compared": compared.remote_transactions,
        "local_decisions_compared": compared.local_transactions,
        "collections_seen": compared.collections,
        "collections_on_join": compared.collections_on_join,
        "donated_items_compared": compared.donated_items,
    }
