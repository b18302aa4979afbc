from __future__ import annotations

import os

import pytest

from paraply.reporting.files import require_writable, write_report
from paraply.vocabulary.errors import ParaplyError


def test_report_is_written_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "report.json"
    write_report(str(path), "new\n")
    assert path.read_text() == "new\n"
    assert os.listdir(tmp_path) == ["report.json"]


def test_interrupted_write_keeps_the_old_report(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text("old\n")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_report(str(path), "new\n")
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["report.json"]


def test_replaced_report_keeps_its_permissions(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("old\n")
    path.chmod(0o640)
    write_report(str(path), "new\n")
    assert path.stat().st_mode & 0o777 == 0o640


def test_symbolic_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_text("old\n")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_report(str(tmp_path / "link.json"), "new\n")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new\n"


def test_device_is_written_to_and_not_replaced():
    write_report(os.devnull, "gone\n")
    assert not os.path.isfile(os.devnull)


def test_minus_is_standard_output(capsys):
    write_report("-", "text\n")
    assert capsys.readouterr().out == "text\n"


@pytest.mark.parametrize("check", [require_writable, lambda name: write_report(name, "")])
def test_missing_folder_is_a_registered_error_that_names_the_file(tmp_path, check):
    name = str(tmp_path / "nowhere" / "report.json")
    with pytest.raises(ParaplyError) as raised:
        check(name)
    assert raised.value.error.code == "P302"
    assert raised.value.where == name


def test_folder_in_place_of_a_file_is_refused_before_the_work(tmp_path):
    with pytest.raises(ParaplyError, match="it is a folder"):
        require_writable(str(tmp_path))
