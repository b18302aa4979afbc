"""The pages as a site: links, navigation by task, search, versions."""

import json
import re
from pathlib import Path

import pytest
import yaml

from ci import docs
from ci.docs import CONFIGURATION, ROOT, gather, gathered, list_versions, pages
from paraply.version import VERSION

KNOWN = {Path("README.md"), Path("docs/protocol.md"), Path("proofs/P01.md")}


def test_no_link_of_the_project_leads_nowhere(tmp_path):
    assert gather(tmp_path) == []
    assert (tmp_path / "index.md").is_file()
    assert len(list(tmp_path.rglob("*.md"))) == sum(p.suffix == ".md" for p in pages().values())


def test_link_from_one_folder_to_another_is_kept():
    text, broken = gathered(
        "see [a](protocol.md#rules), [b](../README.md)", Path("docs/x.md"), KNOWN
    )
    assert text == "see [a](../docs/protocol.md#rules), [b](../index.md)"
    assert broken == []


def test_link_to_code_becomes_its_text():
    text, broken = gathered("the [checks](ci/check.py)", Path("README.md"), KNOWN)
    assert (text, broken) == ("the checks", [])


def test_link_to_nothing_is_a_fault():
    _, broken = gathered("[a](docs/no-such.md)", Path("README.md"), KNOWN)
    assert broken == ["docs/no-such.md"]


def test_code_and_far_links_are_left_alone():
    text = "```\n[a](nowhere.md)\n```\n[b](https://example.org/x.md)\n"
    assert gathered(text, Path("README.md"), KNOWN) == (text, [])


def test_navigation_has_every_page_of_the_documents():
    def places(entry):
        if isinstance(entry, str):
            return [entry]
        return [one for part in entry for group in part.values() for one in places(group)]

    found = places(yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))["nav"])
    assert len(found) == len({*found})
    assert {Path(one) for one in found} <= pages().keys()
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= {*found}


def test_menu_has_every_version_and_the_first_page_opens_the_newest(tmp_path):
    for name in ("0.9.0", "0.10.0", "assets"):
        (tmp_path / name).mkdir()
    for name in ("0.9.0", "0.10.0"):
        (tmp_path / name / "index.html").touch()
    list_versions(tmp_path)
    menu = json.loads((tmp_path / "versions.json").read_text())
    assert [one["version"] for one in menu] == ["0.10.0", "0.9.0"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()


@pytest.mark.long
def test_site_has_a_search_and_asks_no_other_host(tmp_path, monkeypatch):
    monkeypatch.setattr(docs, "BUILD", tmp_path)
    assert docs.main([]) == 0
    site = tmp_path / "site" / VERSION
    entries = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    assert any("docs/audit.html" in one["location"] for one in entries)
    page = (site / "docs" / "audit.html").read_text(encoding="utf-8")
    assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', page)
