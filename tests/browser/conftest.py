"""One browser for the tests of a module."""

from __future__ import annotations

import pytest

from tests.browser.chromium import Chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found
