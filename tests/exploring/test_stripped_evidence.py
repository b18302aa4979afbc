"""Evidence that is taken away never turns a breach into HOLDS."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from paraply.counterexamples.hunt import system_of
from paraply.properties.registry import verdict_of
from paraply.properties.search import random_schedules, search
from paraply.registries import mutant_named, property_named
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.verdict import Verdict
from paraply.vocabulary.write_set import EMPTY_WRITE_SET

RUNS = 3_000


@cache
def broken_by(mutant):
    """Return the property that catches a mutant, and a history that breaks it."""
    mutant = mutant_named(mutant)
    prop = property_named(mutant.caught_by)
    found = search(system_of(mutant.subject, mutant.workload), prop, random_schedules(1, RUNS))
    assert verdict_of(found.history, prop) is Verdict.VIOLATED
    return prop, found.history


@pytest.mark.parametrize(
    ("mutant", "kind"),
    [
        ("subset_need_not_be_strict", EventKind.SUBMITTED),
        ("engine_commits_the_last_first", EventKind.ENGINE_COMMITTED),
        ("busy_member_logs_no_view_change", EventKind.ENGINE_COMMITTED),
        ("view_change_is_applied_beside_others", EventKind.ENGINE_COMMITTED),
        ("barrier_opens_before_the_error", EventKind.ENGINE_COMMITTED),
        ("followers_go_before_their_leader", EventKind.ENGINE_COMMITTED),
        ("delivery_crosses_a_view", EventKind.DELIVERED),
        ("filtered_transaction_is_dropped", EventKind.DELIVERED),
        ("replicas_are_sent_the_unsynced", EventKind.DELIVERED),
        ("empty_set_counts_as_first", EventKind.ONLINE),
        ("empty_set_counts_as_first", EventKind.VIEW_INSTALLED),
        ("recovery_stops_before_the_view_change", EventKind.CERTIFIED),
        ("barrier_goes_to_any_worker", EventKind.BEGUN),
    ],
)
def test_breach_is_never_held_to_be_sound_without_events_of_a_kind(mutant, kind):
    prop, history = broken_by(mutant)
    assert kind in history.kinds
    kept = tuple(event for event in history.events if event.kind is not kind)
    assert verdict_of(replace(history, events=kept), prop) is not Verdict.HOLDS


@pytest.mark.parametrize(
    ("mutant", "kind", "field"),
    [
        ("domain_limit_is_ignored", EventKind.BEGUN, "worker"),
        ("gtids_start_again_after_a_crash", EventKind.FLUSHED, "gtid"),
        ("blocks_survive_the_view_change", EventKind.CERTIFIED, "gtid"),
        ("kill_strikes_the_earlier", EventKind.ROLLED_BACK, "other"),
        ("waiting_transaction_is_not_pulled_in", EventKind.FLUSHED, "group"),
        ("commits_are_not_ordered", EventKind.ROW_APPLIED, "items"),
    ],
)
def test_breach_is_never_held_to_be_sound_without_a_field(mutant, kind, field):
    prop, history = broken_by(mutant)
    absent = {field: Event._field_defaults[field]}
    events = tuple(
        event._replace(**absent) if event.kind is kind else event for event in history.events
    )
    stripped = replace(history, events=events)
    assert stripped != history
    assert verdict_of(stripped, prop) is not Verdict.HOLDS


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    "mutant",
    [
        "fresh_versions_are_not_looked_at", "idempotent_hides_equal_commit_ids",
        "round_purges_everything", "items_raise_the_window", "last_row_is_not_handed_out",
        "watermark_counts_before_the_crash", "commits_are_not_ordered",
    ],
)  # fmt: skip
def test_breach_is_never_held_to_be_sound_without_write_sets(mutant):
    prop, history = broken_by(mutant)
    bare = tuple(replace(one, write_set=EMPTY_WRITE_SET) for one in history.transactions)
    assert verdict_of(replace(history, transactions=bare), prop) is not Verdict.HOLDS
