"""The pages as a site: links are carried over, and one that leads nowhere is a fault."""

from pathlib import Path

from ci.docs import ROOT, gather, gathered, pages

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
    assert (ROOT / "ci" / "mkdocs.yml").is_file()
