"""What a person reads is what it was when somebody last looked at it."""

from __future__ import annotations

import pytest

from tests.golden import __main__ as golden


@pytest.mark.parametrize("path", golden.golden_files(), ids=lambda path: path.stem)
def test_golden_file_is_what_its_command_prints(path):
    printed = golden.expected_text(golden.command_of(path))
    assert printed == path.read_text(encoding="utf-8"), (
        "if the change is meant: python -m tests.golden --overwrite"
    )


def test_folder_without_golden_files_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(golden, "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError):
        golden.golden_files()


def test_file_that_does_not_begin_with_its_command_is_an_error(tmp_path):
    path = tmp_path / "lost.txt"
    path.write_text("a report\n")
    with pytest.raises(ValueError, match="first line"):
        golden.command_of(path)
