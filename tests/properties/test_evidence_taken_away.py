"""A breach whose evidence is taken away is UNKNOWN; it HOLDS only where the offence itself is gone.

Each kind of events is dropped from each smallest example of a breach.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from paraply.properties.registry import registered_properties, verdict_of
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.verdict import Verdict
from tests.properties.smallest_examples import stored

_AFTER_STOP = (
    "A server acted after its stop. The act is the forbidden step; sound servers are silent."
)
OFFENCE_REMOVED = {
    ("acknowledgements_follow_receipt", EventKind.CRASHED): (
        "The source heard a reply while it was down. Without a crash it was up; "
        "most sound runs have none."
    ),
    ("attempts_take_their_steps_in_order", EventKind.SYNCED): (
        "The sync came before the write to the log, or twice. Servers that leave the sync to the "
        "operating system record none."
    ),
    ("barred_sources_take_no_clients", EventKind.READ): (
        "A client read while the source was barred. The read is the forbidden step; sound sources "
        "take no client then."
    ),
    ("coordinators_sleep_below_the_mark_only", EventKind.CRASHED): (
        "The coordinator slept although the crash had emptied its window. Without the crash it "
        "may sleep; most sound runs have none."
    ),
    ("errors_undo_only_what_follows", EventKind.ROLLED_BACK): (
        "An earlier transaction was rolled back. The rollback is the forbidden step; a sound run "
        "may end without any."
    ),
    ("joiners_do_not_collect_at_their_own_view", EventKind.GARBAGE_COLLECTED): (
        "The joiner collected at its own view. The collection is the forbidden step; sound "
        "joiners leave it out."
    ),
    ("lost_clients_get_no_answer", EventKind.CLIENT_ACKNOWLEDGED): (
        "A client without a connection got an answer. The answer is the forbidden step; no event "
        "is what a sound source leaves there."
    ),
    ("readers_at_the_source_see_prefixes", EventKind.RECOVERED): (
        "A reader missed what recovery had found in the log. Without a recovery the log starts "
        "empty; most sound runs have none."
    ),
    ("steps_run_out", EventKind.ACKNOWLEDGED): (
        "A replica received what it had already acknowledged. Asynchronous replicas send no "
        "reply, and one receipt is sound."
    ),
    ("stopped_servers_are_silent", EventKind.BEGUN): _AFTER_STOP,
    ("stopped_servers_are_silent", EventKind.ROW_APPLIED): _AFTER_STOP,
    ("stopped_servers_are_silent", EventKind.SCHEDULED): _AFTER_STOP,
    ("stopped_servers_are_silent", EventKind.SYNCED): _AFTER_STOP,
}
"""Where HOLDS is right: the offence itself was removed, and sound runs may lack that event.

That is the forbidden step, or the crash, recovery or reply that forbids it.
"""


def verdicts_without_a_kind():
    """Return the verdicts by property and dropped kind."""
    by_name = {prop.name: prop for prop in registered_properties()}
    found = defaultdict(set)
    for example in stored():
        prop, history = by_name[example.prop], example.history
        for kind in history.kinds if prop.violations(history) else ():
            kept = tuple(event for event in history.events if event.kind is not kind)
            verdict = verdict_of(replace(history, events=kept), prop)
            found[prop.name, kind].add(verdict)
    return found


def test_breach_without_a_kind_of_events_holds_only_where_the_offence_itself_is_gone():
    verdicts = verdicts_without_a_kind()
    assert len(verdicts) > 400
    holding = {pair for pair, found in verdicts.items() if Verdict.HOLDS in found}
    assert holding - OFFENCE_REMOVED.keys() == set(), "a judge passes over what it cannot decide"
    assert OFFENCE_REMOVED.keys() - holding == set(), "these need no place on the list"
