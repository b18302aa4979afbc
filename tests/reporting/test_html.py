from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html.parser import HTMLParser
from importlib import resources

import pytest

from paraply.reporting.html import CARDS_MAX, render_html
from tests.builders.audit_results import (
    empty_result,
    holding_result,
    mariadb_result,
    violated_result,
)
from tests.builders.audit_situations import EVERY_SITUATION, HOSTILE

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"}


@cache
def page_of(situation):
    return render_html(EVERY_SITUATION[situation]())


class Page(HTMLParser):
    """Checks that tags nest, and keeps what the tests ask about."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.faults = [], [], []
        self.texts = []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"never closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.faults.append(f"repeated attribute on {tag}: {names}")
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_page_nests_and_its_ids_are_unique_where_the_log_has_unique_transactions(situation):
    page = Page(page_of(situation))
    assert page.faults == []
    if situation != "hostile":  # There every link of the path is the same transaction.
        assert len(page.ids()) == len(set(page.ids()))


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_page_loads_nothing_and_links_only_into_itself(situation):
    page = Page(page_of(situation))
    for tag, attributes in page.elements:
        assert "src" not in attributes, tag
        assert attributes.get("href", "#").startswith("#"), tag
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
    assert page.all("link") == page.all("img") == page.all("iframe") == []


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_links_lead_to_something(situation):
    page = Page(page_of(situation))
    targets = {attributes["href"][1:] for attributes in page.all("a")}
    assert targets <= set(page.ids())


def test_policy_allows_exactly_the_style_and_script_of_the_page():
    text = render_html(violated_result())
    policy = next(
        attributes["content"]
        for attributes in Page(text).all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    for tag in ("style", "script"):
        (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_hostile_text_becomes_neither_element_nor_hidden_character():
    text = page_of("hostile")
    page = Page(text)
    assert len(page.all("script")) == 1
    assert HOSTILE not in text
    assert [c for c in text if not c.isprintable() and c != "\n"] == []
    assert any(r"\x1b[2J" in shown and "<script>alert(1)</script>" in shown
               for _, shown in page.texts)  # fmt: skip


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_every_picture_has_a_title_and_a_description(situation):
    text = page_of(situation)
    pictures = re.findall(r"<svg[^>]*role=\"(?:img|group)\".*?</svg>", text, re.DOTALL)
    for picture in pictures:
        assert re.search(r'aria-label="[^"]+"', picture)
        assert re.search(r"<title>[^<]+</title><desc>[^<]+</desc>", picture)


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_tables_have_captions_and_headings_have_scope(situation):
    page = Page(page_of(situation))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in attributes for attributes in page.all("th"))


def test_verdict_is_said_in_words_and_not_by_colour_alone():
    for make, word in ((empty_result, "Unknown"), (violated_result, "Violated")):
        headings = [text.strip() for tag, text in Page(render_html(make())).texts if tag == "h1"]
        assert word in headings


def test_unknown_is_never_in_the_colour_of_holds():
    page = Page(render_html(empty_result()))
    assert not [a for _, a in page.elements if "holds" in (a.get("class") or "").split()]


def test_safe_log_is_in_the_colour_of_holds():
    assert Page(render_html(holding_result())).all("header")[0]["class"] == "holds"


def test_small_logs_show_no_empty_pictures():
    assert "<svg" not in render_html(empty_result())


def test_numbers_in_pictures_are_numbers():
    for situation in EVERY_SITUATION:
        assert not re.search(r'"[^"<>]*\b(nan|inf)\b[^"<>]*"', page_of(situation))


def test_both_transactions_of_a_violation_and_what_lets_them_overlap_are_on_one_card():
    text = render_html(violated_result())
    card = text[text.index('<article class="card violated">') :]
    card = card[: card.index("</article>")]
    for part in (
        "3e11fa47-71ca-11e1-9e33-c80aa9429562:411",
        "3e11fa47-71ca-11e1-9e33-c80aa9429562:412",
        "binlog.000007:128429",
        "last_committed=408 sequence_number=412",
        "uk_number(&#39;A-1007&#39;)",
        "stop with a duplicate key.",
        "B waits for sequence numbers up to 408 (its last_committed); A has 411.",
        "<svg",
    ):
        assert part in card


def test_log_without_a_logical_clock_has_no_picture_of_one():
    text = render_html(mariadb_result())
    assert "sequence_number − last_committed" not in text
    assert "commit-group" in text


def test_rows_in_doubt_have_a_figure_of_their_own():
    result = violated_result()
    assert "in doubt" not in render_html(result)
    result.replay.rows_in_doubt = 1_200
    assert "<b>1,200</b> in doubt" in render_html(result)


def test_cards_past_the_limit_are_counted():
    result = violated_result()
    result.violations = result.violations[:1] * (CARDS_MAX + 3)
    text = render_html(result)
    assert text.count('class="scheme"') == CARDS_MAX
    assert "3 more such pairs" in text


def test_knee_of_each_curve_is_ringed():
    page = Page(render_html(holding_result()))
    rings = [a for a in page.all("circle") if a.get("class") == "knee"]
    assert len(rings) == len(holding_result().parallelism)


def colours():
    """Return the page's colours by name: for light and for dark."""
    css = resources.files("paraply.reporting").joinpath("templates", "audit.css").read_text()
    blocks = re.findall(r":root \{(.*?)\n *\}", css.partition("@media print")[0], re.DOTALL)
    light, dark = (dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block)) for block in blocks)
    return {"light": light, "dark": dark}


def contrast(one, other):
    """Return the contrast ratio of two colours, as WCAG 2 defines it."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for(theme):
    palette = colours()[theme]
    pairs = [(text, ground) for text in ("ink", "quiet", "link")
             for ground in ("page", "card", "soft")]  # fmt: skip
    pairs += [(verdict, f"{verdict}-soft") for verdict in ("good", "unsure", "bad")]
    pairs += [(text, f"{verdict}-soft") for text in ("ink", "quiet")
              for verdict in ("good", "unsure", "bad")]  # fmt: skip
    pairs += [(tone, ground) for tone in ("bad", "unsure", "warn") for ground in ("page", "card")]
    too_faint = {pair: round(contrast(palette[pair[0]], palette[pair[1]]), 2) for pair in pairs
                 if contrast(palette[pair[0]], palette[pair[1]]) < 4.5}  # fmt: skip
    assert too_faint == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_curves_and_their_names_stand_out_from_the_card(theme):
    palette = colours()[theme]
    for number in range(6):
        assert contrast(palette[f"c{number}"], palette["card"]) >= 4.5, number
