"""The report of a campaign as a page: its numbers are those of the campaign, its links lead."""

import json
import re

import pytest

from paraply.cli import main
from paraply.vocabulary.moments import FLAGS, NOTHING

SYSTEMS = ["--subjects", "certifier:wl8440_literal,certifier:wl8440", "--mutants"]
MUTANT = "first_item_decides"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign")
    out, result = str(folder / "mine"), folder / "result.json"
    words = [*SYSTEMS, MUTANT, "--histories", "40", "--seed", "3"]
    assert main(["mine", *words, "--out", out, "--json", str(result)]) == 1
    assert main(["show", out, "--out", str(folder / "pages")]) == 0
    page = (folder / "pages" / "index.html").read_text(encoding="utf-8")
    return folder, page, json.loads(result.read_text())


def rows(page, table):
    """Return the texts of the cells of a table, row by row."""
    part = page.split(f'<div class="sortable" id="{table}">')[1].split("</table>")[0]
    return [
        [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", part.split("<tbody>")[1])
    ]


@pytest.mark.long
def test_verdicts_are_those_of_the_campaign(campaign):
    _, page, result = campaign
    words = {name: verdict for name, verdict, *_ in rows(page, "subjects") + rows(page, "mutants")}
    assert words == {system["name"]: system["verdict"] for system in result["systems"]}
    assert words["certifier:wl8440_literal"] == "violated"


@pytest.mark.long
def test_every_link_leads_to_a_page_of_that_breach(campaign):
    folder, page, result = campaign
    links = set(re.findall(r'href="(counterexamples/[^"]+)"', page))
    assert len(links) == len(result["counterexamples"]) > 2
    for link in links:
        linked = (folder / "pages" / link).read_text(encoding="utf-8")
        assert "Not so:" in linked
    assert f"counterexamples/{MUTANT}-first_certified_wins-1.html" in links


def test_situations_are_counted_in_histories(campaign):
    _, page, result = campaign
    (mutant,) = (one for one in result["systems"] if one["name"] == MUTANT)
    for name, system, histories, percent, *evidence in rows(page, "situations"):
        if system == MUTANT:
            found = mutant["situations"].get(name, {"relevant": 0, "decided": 0})
            assert [int(one) for one in evidence] == [found["relevant"], found["decided"]]
            met = mutant["reached"].get(name, 0) + mutant["violated"].get(name, 0)
            assert int(histories) == met
            assert float(percent) == pytest.approx(100 * met / 40, abs=0.06)


def test_states_of_faults_are_those_of_the_campaign(campaign):
    _, page, result = campaign
    shown = {}
    for subject, event, *flags, histories, _ in rows(page, "moments"):
        held = [name for name, flag in zip(FLAGS, flags, strict=True) if flag]
        shown[subject, f"{event}: {', '.join(held) or NOTHING}"] = int(histories)
    subjects = [one for one in result["systems"] if not one["mutant"]]
    assert shown == {
        (one["name"], moment): count for one in subjects for moment, count in one["moments"].items()
    }
    assert shown


def test_actions_add_up_to_the_events(campaign):
    _, page, result = campaign
    counted = sum(int(times.replace(",", "")) for _, _, times, _ in rows(page, "actions"))
    assert counted == sum(system["events"] for system in result["systems"])


def test_campaign_that_is_cut_short_is_not_said_to_hold(tmp_path, capsys):
    out = str(tmp_path / "mine")
    words = ["--subjects", "certifier:mysql_8_4", "--histories", "40", "--batch", "10"]
    main(["mine", *words, "--out", out, "--time-limit", "0.000001"])
    main(["show", out, "--out", str(tmp_path / "pages")])
    capsys.readouterr()
    page = (tmp_path / "pages" / "index.html").read_text(encoding="utf-8")
    assert '<header class="unknown">' in page
    assert "the campaign is not complete" in page
