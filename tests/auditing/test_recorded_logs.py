"""The shipped logs of real servers, from the file to every form of the report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ci.pages.audit_json import SCHEMA_PATH, pages
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.reporting.audit.json_form import render_json
from paraply.reporting.html import render_html
from paraply.reporting.junit import render_junit
from paraply.reporting.terminal import render_terminal
from paraply.reporting.words import MARKS, METADATA_MODELS
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.builders.json_schema import faults

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "binlogs"


def recordings(is_encrypted):
    """Yield every log of every recording: its name, its files, its schema, its transactions."""
    for manifest in sorted(FOLDER.glob("*/*/manifest.json")):
        folder = manifest.parent
        for name, log in json.loads(manifest.read_text())["logs"].items():
            files = [folder / file["file"] for file in log["files"]]
            schema = folder / ("replica-schema.sql" if name == "replica" else "schema.sql")
            counts = [file.get("transactions") for file in log["files"]]
            label = f"{folder.parent.name}/{folder.name}/{name}"
            # The server's own tool cannot count the transactions of what it cannot read.
            if (None in counts) == is_encrypted:
                yield pytest.param(files, schema, counts, id=label)


COUNTED = "(?:row |key )?(?:transaction|pair|row|change|key|gap|run|group|touche|server|file|table)"

RECORDINGS = list(recordings(is_encrypted=False))
ENCRYPTED = list(recordings(is_encrypted=True))


def test_there_are_recordings_of_both_servers():
    names = {recording.id.split("-")[0] for recording in RECORDINGS}
    assert names == {"mariadb", "mysql"}


@pytest.mark.long
@pytest.mark.parametrize(("files", "schema", "counts"), RECORDINGS)
def test_recorded_log_is_reported_in_every_form_and_a_real_server_is_not_accused(
    files, schema, counts
):
    result = audit(AuditRequest(files=tuple(map(str, files)), schema=str(schema)))
    drawn = render_terminal(result, width=100, colour=False)
    assert result.verdict is not Verdict.VIOLATED, drawn
    assert [file.transactions for file in result.files] == counts
    document = json.loads(render_json(result))
    assert faults(document, json.loads(pages()[SCHEMA_PATH])) == []
    assert ElementTree.fromstring(render_junit(result)).get("failures") == "0"
    assert f'<h1><span class="mark" aria-hidden="true">{MARKS[result.verdict]}' in (
        render_html(result)
    )
    assert result.verdict.name in drawn
    # A small log has its widths drawn too, one per round.
    assert ("may run at once, from the first round" in drawn) is (len(result.width_over_time) > 1)
    widths = [width for _, width in result.width_over_time]
    if widths and len(widths) < 400:
        line = max(result.parallelism, key=lambda model: model.model in METADATA_MODELS)
        assert (len(widths), sum(widths)) == (line.steps, result.transactions)
        assert max(widths) == line.width_max
    # Whatever counts says "1 row", not "1 rows".
    assert re.findall(rf"(?<![\w.,:-])1 (?:{COUNTED})s\b", drawn) == []


@pytest.mark.long
@pytest.mark.parametrize(("files", "schema", "counts"), RECORDINGS)
def test_text_dump_gives_the_verdict_of_its_log_or_says_what_the_text_lacks(files, schema, counts):
    texts = [file.parent / "expected" / f"{file.name}.txt.gz" for file in files]
    if not all(text.exists() for text in texts):
        pytest.skip("the server's own tool left no text of this log")
    from_log = audit(AuditRequest(files=tuple(map(str, files)), schema=str(schema)))
    from_text = audit(AuditRequest(files=tuple(map(str, texts)), schema=str(schema)))
    assert from_text.verdict in (from_log.verdict, Verdict.UNKNOWN)
    assert from_text.pairs_allowed_to_overlap == from_log.pairs_allowed_to_overlap
    assert [file.transactions for file in from_text.files] == counts
    assert {file.format for file in from_text.files} == {"text"}


@pytest.mark.parametrize(("files", "schema", "counts"), ENCRYPTED)
def test_encrypted_log_is_refused_with_the_way_to_get_it_decrypted(files, schema, counts):
    with pytest.raises(ParaplyError, match="P103") as raised:
        audit(AuditRequest(files=tuple(map(str, files))))
    assert "--read-from-remote-server" in raised.value.remedy
