"""docs/appliers-survey.md is what the suite says, run again here for the rule that runs fastest."""

from __future__ import annotations

import pytest

from ci.pages.survey import PAGE_PATH, results_of, section, table_row
from paraply.adapters.conformance.rules.restated import RESTATED, ForcedGlobal


@pytest.mark.long
def test_page_says_what_the_suite_says(repository):
    page = (repository / PAGE_PATH).read_text()
    results = results_of(ForcedGlobal)
    assert f"| {' | '.join(table_row(ForcedGlobal, results))} |" in page
    assert "\n".join(section(ForcedGlobal, results)) in page


def test_page_has_every_rule_that_is_restated(repository):
    page = (repository / PAGE_PATH).read_text()
    for rule in RESTATED:
        assert f"## {rule.name}\n" in page
        documents = "\n".join(cls.__doc__ or "" for cls in rule.__mro__[:2])
        assert "Source:" in documents or "Restated from" in documents
