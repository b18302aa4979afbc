"""Whatever bytes come: a verdict or a registered error, every report well-formed, no traceback."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci.pages.audit_json import SCHEMA_PATH, pages
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.reporting.audit.json_form import render_json
from paraply.reporting.html import render_html
from paraply.reporting.junit import render_junit
from paraply.reporting.terminal import render_terminal
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.builders.json_schema import faults
from tests.conftest import REPOSITORY
from tests.reporting.test_html import Page

SAMPLES = sorted((REPOSITORY / "tests" / "fixtures" / "binlogs").glob("*/no-checksum/bin.000001"))
SCHEMA = json.loads(pages()[SCHEMA_PATH])


@pytest.mark.long
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.parent.parent.name)
@given(data=st.data())
@settings(max_examples=25)
def test_log_with_changed_bytes_ends_in_a_verdict_or_a_registered_error(
    sample, data, tmp_path_factory
):
    # Without checksums nothing but the decoder stands between the change and the judges.
    content = bytearray(sample.read_bytes())
    changes = st.tuples(st.integers(4, len(content) - 1), st.integers(0, 255))
    for at, value in data.draw(st.lists(changes, min_size=1, max_size=8)):
        content[at] = value
    cut = data.draw(st.integers(len(content) // 2, len(content)))
    path = tmp_path_factory.getbasetemp() / "damaged.000001"
    path.write_bytes(content[:cut])
    try:
        result = audit(AuditRequest(files=(str(path),)))
    except ParaplyError:
        return
    if result.files[0].stopped:
        assert result.verdict is not Verdict.HOLDS
    assert faults(json.loads(render_json(result)), SCHEMA) == []
    ElementTree.fromstring(render_junit(result))
    assert Page(render_html(result)).faults == []
    text = render_terminal(result, width=80, colour=False)
    assert [c for c in text if not c.isprintable() and c != "\n"] == []


def test_there_are_samples_of_both_servers():
    assert len(SAMPLES) == 2
