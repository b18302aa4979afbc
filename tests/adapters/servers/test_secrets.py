"""A password in a data source name is found whatever it holds, and printed nowhere."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.servers.existing import parse_dsn
from paraply.cli import main
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.secrets import dsn_without_password, split_dsn, without_secrets

PASSWORDS = st.text(string.ascii_letters + string.digits + "/#:@?&=!$ %", min_size=6)
USERS = st.text(string.ascii_letters + "@._-", min_size=1).filter(lambda t: t.strip("@") == t)
PLACES = ("db1", "db1:3306", "[::1]:3306", "db1:3306/", "/?socket=/tmp/s", "h?ssl_ca=/c.pem")


@given(USERS, PASSWORDS, st.sampled_from(PLACES))
def test_encoded_parts_come_back(user, password, place):
    dsn = f"mysql://{quote(user, safe='')}:{quote(password, safe='')}@{place}"
    found = parse_dsn(dsn)
    assert (found.user, found.password) == (user, password)


@given(st.sampled_from(["me", "me@corp", "a.b@c.d"]), PASSWORDS, st.sampled_from(PLACES))
def test_raw_password_is_never_part_of_the_printed_name(user, password, place):
    # The end of a password that looks like a place of its own cannot be told from one.
    secret = f"x9{password}9x"
    shown = dsn_without_password(f"mysql://{user}:{secret}@{place}")
    parts = split_dsn(f"mysql://{user}:{secret}@{place}")
    assert parts.user == user
    assert shown.startswith(f"mysql://{user}@")
    if parts.place == place:
        assert secret not in shown


@pytest.mark.parametrize(
    ("dsn", "user", "password", "host"),
    [
        ("mysql://me@corp:s3cr/et#1@db1", "me@corp", "s3cr/et#1", "db1"),
        ("mysql://me:a:b@c/d?e@db1:3307", "me", "a:b@c/d?e", "db1"),
        ("mysql://me:p%40ss@db1", "me", "p@ss", "db1"),
        ("mysql://me@db1", "me", "", "db1"),
    ],
)
def test_user_and_password_with_any_character(dsn, user, password, host, monkeypatch):
    monkeypatch.delenv("PARAPLY_DSN_PASSWORD", raising=False)
    found = parse_dsn(dsn)
    assert (found.user, found.password, found.host) == (user, password, host)


@pytest.mark.parametrize(
    "dsn",
    [
        "mysql://me:s3cr3t@db1:port",
        "mysql://me:s3cr3t/x@db1:99999999",
        "ftp://me:s3cr3t@db1",
        "mysql://me:s3cr3t@db1/schema",
        "mysql://me@db1?password=s3cr3t",
        "mysql://me:s3cr3t@db1?x=1&PWD=s3cr3t",
        "mysql://me@corp:s3cr3t#@db1?x",
    ],
)
def test_refused_name_does_not_show_its_password(dsn, capsys):
    with pytest.raises(ParaplyError) as raised:
        parse_dsn(dsn)
    assert "s3cr3t" not in without_secrets(raised.value.text + raised.value.remedy)
    assert main(["live", "--dsn", dsn, "mysql://me@db2"]) == 3
    assert main(["live", "--dsn", "mysql://me@db2", "--no-such-option", dsn]) == 3
    captured = capsys.readouterr()
    assert "s3cr3t" not in captured.out + captured.err
