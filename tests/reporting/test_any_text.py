"""Whatever text a log holds, every form of the report stays what it is and hides nothing."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.reporting.audit.json_form import render_json
from paraply.reporting.html import render_html
from paraply.reporting.junit import render_junit
from paraply.reporting.terminal import render_terminal
from tests.builders.audit_results import transaction, violated_result
from tests.reporting.test_html import Page

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

# Text as logs have it, and characters chosen to hurt: markup, escapes, halves of pairs.
TEXTS = st.text(min_size=1) | st.text(
    alphabet="\x1b[]<>&'\"\\\x00\x9b\u202e\ud800\uffff\n#{}%", min_size=1
)


def result_with(text):
    result = violated_result()
    named = replace(transaction(7, file=text), gtid=text)
    result.violations = [
        replace(result.violations[0], key=text, table=text, earlier=named, consequence=text)
    ]
    result.tables = [replace(result.tables[0], name=text, keys=(text,))]
    result.critical_path = [
        replace(result.critical_path[0], transaction=named),
        replace(result.critical_path[1], waits_for=7, because=text),
    ]
    result.assumptions = [text]
    result.statements_asked = [text]
    result.files[0].name = text
    return result


@pytest.mark.long
@given(text=TEXTS)
@settings(max_examples=30)
def test_any_text_is_shown_and_never_acts(text):
    result = result_with(text)
    assert json.loads(render_json(result))["violations"][0]["key"] == text
    ElementTree.fromstring(render_junit(result).encode("utf-8"))
    html = render_html(result)
    page = Page(html)
    assert page.faults == []
    assert len(page.all("script")) == 1
    forms = (
        html,
        render_json(result),
        render_junit(result),
        render_terminal(result, width=80, colour=False),
        render_terminal(result, width=80, colour=False, plain=True),
    )
    for form in forms:
        assert {c for c in form if unicodedata.category(c) in HIDDEN} <= {"\n"}
        form.encode("utf-8")
