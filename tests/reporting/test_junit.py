from __future__ import annotations

from xml.etree import ElementTree

import pytest

from paraply.reporting.junit import render_junit
from tests.builders.audit_results import (
    empty_result,
    holding_result,
    truncated_result,
    violated_result,
)
from tests.builders.audit_situations import EVERY_SITUATION


def cases(result, *, strict=False):
    root = ElementTree.fromstring(render_junit(result, strict=strict))
    suite = root.find("testsuite")
    found = {
        (case.get("classname").rpartition(".")[2], case.get("name")): [child.tag for child in case]
        for case in suite
    }
    counted = {
        "tests": len(list(suite)),
        "failures": len(suite.findall("testcase/failure")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for element in (root, suite):
        assert {name: int(element.get(name)) for name in counted} == counted
    return found


@pytest.mark.parametrize("situation", EVERY_SITUATION)
@pytest.mark.parametrize("strict", [False, True])
def test_xml_is_well_formed_and_its_counts_are_right(situation, strict):
    assert cases(EVERY_SITUATION[situation](), strict=strict)


def test_safe_log_has_only_passing_cases():
    found = cases(holding_result())
    assert found.pop(("verdict", "the log is safe to apply in parallel")) == ["system-out"]
    assert set(map(tuple, found.values())) == {()}
    assert ("safety", "conflicting_transactions_are_ordered [logical-clock]") in found


def test_violation_is_one_failure_per_property_and_applier():
    found = cases(violated_result())
    assert found["safety", "conflicting_transactions_are_ordered [logical-clock]"] == ["failure"]
    assert found["replay", "inserted_keys_are_free"] == ["failure"]
    assert found["replay", "rows_exist"] == []
    assert found["lint", "last_committed_is_before_sequence_number binlog.000007"] == ["failure"]


def test_warning_is_a_note_and_a_failure_only_when_strict():
    name = ("lint", "sequence_numbers_are_dense binlog.000007")
    assert cases(violated_result())[name] == ["system-out"]
    assert cases(violated_result(), strict=True)[name] == ["failure"]


def test_unknown_is_skipped_with_its_reason_and_a_failure_when_strict():
    name = ("unknown", "conflicting_transactions_are_ordered shop.audit_trail")
    assert cases(truncated_result())[name] == ["skipped"]
    assert cases(truncated_result(), strict=True)[name] == ["failure"]
    assert "set binlog_row_metadata=FULL" in render_junit(truncated_result())


def test_log_in_which_nothing_happened_passes_nothing_it_did_not_show():
    found = cases(empty_result())
    assert found["verdict", "the log is safe to apply in parallel"] == ["skipped"]
    assert found["replay", "before_images_match"] == ["skipped"]
