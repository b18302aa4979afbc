"""Every path that ARCHITECTURE.md names exists."""

from __future__ import annotations

import re

import pytest

ROOMS = (
    "",
    "paraply",
    "paraply/adapters/binlog",
    "paraply/adapters",
    "paraply/adapters/conformance",
    "paraply/adapters/live",
    "paraply/adapters/wire",
    "paraply/properties",
    "paraply/adapters/binlog/text",
    "paraply/adapters/binlog/schema",
    "paraply/adapters/binlog/keys",
    "paraply/auditing",
    "paraply/mining",
    "paraply/models/language",
    "paraply/properties/logs",
    "paraply/properties/two_logs",
    "paraply/reference_impl",
    "paraply/commands",
)
"""Folders to which the page's paths are relative, as their paragraphs say."""

PATH = re.compile(r"`([a-z_]+(?:/[a-z_0-9]+)*(?:\.(?:py|toml|md)|/))`")


def paths(repository):
    return sorted(set(PATH.findall((repository / "ARCHITECTURE.md").read_text(encoding="utf-8"))))


def test_page_names_paths(repository):
    assert len(paths(repository)) > 40


def test_every_path_exists(repository):
    missing = [
        path
        for path in paths(repository)
        if not any((repository / room / path).exists() for room in ROOMS)
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["models", "properties", "reference_impl"])
def test_names_of_the_design_card_are_links_into_the_package(repository, name):
    link = repository / name
    assert link.is_symlink()
    assert link.resolve() == repository / "paraply" / name


def test_few_modules_are_directly_in_the_package(repository):
    assert len(list((repository / "paraply").glob("*.py"))) <= 12
