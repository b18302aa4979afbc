"""Finding servers, on trees of shell scripts that call themselves servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraply.adapters.servers.installation import (
    MYSQL_BASEDIR_VARIABLE,
    Flavour,
    find_mariadb,
    find_mysql,
)
from paraply.vocabulary.errors import ParaplyError

MYSQL_LINE = "mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))"
MARIADB_LINE = "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)"


def _script(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)
    return path


def _tree(root: Path, line: str, *, folder: str = "bin", name: str = "mysqld") -> Path:
    _script(root / folder / name, f'echo "{line}"')
    return root


@pytest.mark.parametrize("folder", ["bin", "sbin", "usr/sbin", "libexec"])
def test_mysql_is_found_wherever_a_tree_keeps_its_programs(tmp_path, folder):
    found = find_mysql(_tree(tmp_path, MYSQL_LINE, folder=folder))
    assert found.flavour is Flavour.MYSQL
    assert found.version == (9, 7, 4)
    assert (found.version_text, found.slug) == ("MySQL 9.7.4", "mysql-9.7.4")
    assert found.server_binary == tmp_path / folder / "mysqld"
    assert found.launcher == ()


def test_mysqld_that_is_mariadb_is_no_mysql(tmp_path):
    tree = _tree(tmp_path, MARIADB_LINE)
    assert find_mariadb(tree).version == (10, 11, 19)
    with pytest.raises(ParaplyError, match="P601 no MySQL server was found") as caught:
        find_mysql(tree)
    assert str(tmp_path) in caught.value.text
    assert MYSQL_BASEDIR_VARIABLE in caught.value.remedy


def test_environment_names_the_tree(tmp_path, monkeypatch):
    monkeypatch.setenv(MYSQL_BASEDIR_VARIABLE, str(_tree(tmp_path, MYSQL_LINE)))
    assert find_mysql().basedir == tmp_path


def test_argument_wins_over_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(MYSQL_BASEDIR_VARIABLE, str(tmp_path / "nothing-here"))
    assert find_mysql(_tree(tmp_path / "named", MYSQL_LINE)).basedir == tmp_path / "named"


def test_named_place_without_a_server_is_not_replaced_by_another(tmp_path):
    with pytest.raises(ParaplyError, match="P601"):
        find_mariadb(tmp_path)


def test_tree_with_its_own_loader_is_run_through_it(tmp_path):
    tree = _tree(tmp_path, MYSQL_LINE, folder="usr/sbin")
    libraries = tree / "usr/lib/x86_64-linux-gnu"
    loader = _script(libraries / "ld-linux-x86-64.so.2", 'shift 2; echo "loaded: $($@)"')
    found = find_mysql(tree)
    assert found.launcher == (str(loader), "--library-path", str(libraries))
    assert found.version_line == f"loaded: {MYSQL_LINE}"
    assert found.server_command()[:4] == (*found.launcher, str(found.server_binary))


def test_wrapped_program_brings_the_loader_of_its_tree(tmp_path):
    tree = _tree(tmp_path / "1.2.3", f"$0 {MARIADB_LINE}", folder="usr/sbin", name="mariadbd")
    _script(tree / "usr/sbin/.elf/mariadbd")
    _script(tree / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "exit 1")
    found = find_mariadb(tree)
    assert found.launcher == ()
    assert found.version == (10, 11, 19)


def test_server_that_does_not_run_says_why(tmp_path):
    _script(tmp_path / "bin/mysqld", "echo 'libicuuc.so.99: cannot open' >&2", "exit 127")
    with pytest.raises(ParaplyError, match=r"P602 .*libicuuc\.so\.99: cannot open"):
        find_mysql(tmp_path)


def test_version_that_is_no_version_is_refused(tmp_path):
    with pytest.raises(ParaplyError, match=r"P602 .*says 'mysqld from tomorrow'"):
        _ = find_mysql(_tree(tmp_path, "mysqld from tomorrow")).version


def test_missing_tool_is_named(tmp_path):
    with pytest.raises(ParaplyError, match="P601 no MySQL mysqlbinlog server was found"):
        _ = find_mysql(_tree(tmp_path, MYSQL_LINE)).binlog_command


def test_unpacked_tree_is_told_where_its_own_files_are(tmp_path):
    tree = _tree(tmp_path, MYSQL_LINE, folder="usr/sbin")
    for folder in ("usr/share/mysql/charsets", "usr/lib/mysql/plugin"):
        (tree / folder).mkdir(parents=True)
    options = find_mysql(tree).server_command()
    assert f"--basedir={tree / 'usr'}" in options
    assert f"--character-sets-dir={tree / 'usr/share/mysql/charsets'}" in options
    assert f"--plugin-dir={tree / 'usr/lib/mysql/plugin'}" in options
