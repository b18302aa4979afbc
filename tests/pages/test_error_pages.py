from __future__ import annotations

import re

from ci.pages.error_codes import PAGE_PATH, page, registering_modules
from ci.pages.writing import ROOT, pages_main
from paraply.vocabulary.errors import registered_errors


def test_page_of_errors_is_current():
    assert (ROOT / PAGE_PATH).read_text(encoding="utf-8") == page(), (
        "run: python -m ci.pages.error_codes --write"
    )


def test_every_registered_error_has_its_place_on_the_page():
    on_page = re.findall(r"^### (P\d+)$", page(), re.MULTILINE)
    assert on_page == sorted({error.code for error in registered_errors()})
    assert {"paraply.errors", "paraply.vocabulary.errors"} <= set(registering_modules())


def test_remedies_are_one_line_without_a_final_stop():
    page()
    for error in registered_errors():
        assert "\n" not in error.message + error.remedy, error.code
        assert not error.remedy.endswith("."), error.code


def test_stale_page_fails_the_check_and_writing_mends_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("ci.pages.writing.ROOT", tmp_path)
    pages = {"docs/page.md": "text\n"}
    assert pages_main("some.module", pages, ["--check"]) == 1
    assert "python -m some.module --write" in capsys.readouterr().err
    assert pages_main("some.module", pages, ["--write"]) == 0
    assert pages_main("some.module", pages, ["--check"]) == 0
