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

OFFENCE_REMOVED = {
    ("acknowledgements_follow_receipt", EventKind.CRASHED),
    ("attempts_take_their_steps_in_order", EventKind.FLUSHED),
    ("attempts_take_their_steps_in_order", EventKind.SYNCED),
    ("barred_sources_take_no_clients", EventKind.READ),
    ("coordinators_sleep_below_the_mark_only", EventKind.CRASHED),
    ("errors_undo_only_what_follows", EventKind.ROLLED_BACK),
    ("joiners_do_not_collect_at_their_own_view", EventKind.GARBAGE_COLLECTED),
    ("logs_are_synced_before_the_next_step", EventKind.BEGUN),
    ("logs_are_synced_before_the_next_step", EventKind.ENGINE_COMMITTED),
    ("logs_are_synced_before_the_next_step", EventKind.STOPPED),
    ("lost_clients_get_no_answer", EventKind.CLIENT_ACKNOWLEDGED),
    ("readers_at_the_source_see_prefixes", EventKind.RECOVERED),
    ("row_waits_last_until_the_holder_ends", EventKind.ENGINE_COMMITTED),
    ("steps_run_out", EventKind.ACKNOWLEDGED),
    ("stopped_servers_are_silent", EventKind.BEGUN),
    ("stopped_servers_are_silent", EventKind.ROW_APPLIED),
    ("stopped_servers_are_silent", EventKind.SCHEDULED),
    ("stopped_servers_are_silent", EventKind.SYNCED),
}
"""Where HOLDS is right: the offence itself was removed.

That is the forbidden step, or the crash or recovery that forbids it; sound runs may have neither.
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
    assert holding - OFFENCE_REMOVED == set(), "a judge passes over what it cannot decide"
    assert OFFENCE_REMOVED - holding == set(), "these need no place on the list"
