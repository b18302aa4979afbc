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
    secret = f"x9{password}9x"
    shown = dsn_without_password(f"mysql://{user}:{secret}@{place}")
    parts = split_dsn(f"mysql://{user}:{secret}@{place}")
    assert (parts.user, parts.password, parts.place) == (user, secret, place)
    assert shown == f"mysql://{user}@{place}"


@pytest.mark.parametrize(
    ("dsn", "user", "password", "host"),
    [
        ("mysql://me@corp:s3cr/et#1@db1", "me@corp", "s3cr/et#1", "db1"),
        ("mysql://me:a:b@c/d?e@db1:3307", "me", "a:b@c/d?e", "db1"),
        ("mysql://me:p%40ss@db1", "me", "p@ss", "db1"),
        ("mysql://me:p@h?ssl_mode=s3cr3t@db1", "me", "p@h?ssl_mode=s3cr3t", "db1"),
        ("mysql://me:a b@db1", "me", "a b", "db1"),
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


SECRET = "S3CR3Txyz"
# Without a scheme no text shows that it is a DSN, so only options for a DSN hide these.
BARE = (f"root:{SECRET}@db1", f"{SECRET}@db1", f"me:{SECRET}")
MALFORMED = (
    *BARE,
    f"mysql:/me:{SECRET}@h/",
    f"mysql:me:{SECRET}@h/",
    f"mysql://me:{SECRET}",
    f"mysql://me:{SECRET}/",
    f"mysql://:{SECRET}@h",
    f"ftp://me:{SECRET}@h",
    f"mysql://me:{SECRET}@h:x",
    f"mysql://me@h:{SECRET}",
    f"mysql://me@h/{SECRET}",
    f"mysql://me@h#{SECRET}",
    f"mysql://me@[{SECRET}",
    f"mysql://me:p@h?ssl_mode={SECRET}",
    f"mysql://me:p@h?{SECRET}",
    f"mysql://me:p@h?{SECRET}=1",
    f"mysql://me:p@h?ssl_mode={SECRET}@db1:x",
    f"mysql://me:a {SECRET}@h:x",
    f"mysql://me@h?passphrase={SECRET}",
    f"mysql://me:{SECRET}%ff@h",
    f"mysql://me:{SECRET}\udcff@h",
)


def commands_with(dsn, log):
    """Yield every command that takes a DSN, by option."""
    yield "--dsn", ["audit", log, "--dsn", dsn]
    yield "--dsn", ["live", "--dsn", dsn, "mysql://me@db2"]
    yield "--dsn", ["live", "--dsn", "mysql://me@db2", dsn]
    for option in ("--dsn", "--target-dsn"):
        yield option, ["verify", log, "--target", log, option, dsn]
    yield "--source", ["watch", "--source", dsn, "--target", "mysql://me@db2"]
    yield "--target", ["watch", "--source", "mysql://me@db2", "--target", dsn]


@pytest.mark.parametrize("number", range(len(list(commands_with("", "")))))
@pytest.mark.parametrize("dsn", MALFORMED)
def test_malformed_name_shows_its_password_in_no_command(dsn, number, tmp_path, capfd):
    log = tmp_path / "bin.000001"
    log.write_bytes(b"\xfebin")
    option, arguments = list(commands_with(dsn, str(log)))[number]
    assert main(arguments) == 3
    captured = capfd.readouterr()
    assert f"P613 {option} ***" in captured.err
    assert "mysql://USER@HOST:PORT, or mysql://USER@/?socket=PATH" in captured.err
    assert SECRET not in captured.out + captured.err


@pytest.mark.parametrize(
    "words",
    [["show"], ["audit"], ["check"], ["verify"], ["live"], ["watch", "--source"], ["no-command"]],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "dsn",
    [
        f"mysql://me:{SECRET}@h/",
        f"mysql:/me:{SECRET}@h/",
        f"mysql:///me:{SECRET}@h",
        f"mysql://me:a {SECRET}@h",
        f"mysql://me:a@b {SECRET}@h",
        f"mysql://me@corp:a {SECRET}@h",
        f"mysql://me@corp:1/{SECRET}@h",
        f"mysql://me/you:{SECRET}@h",
        f"mysql://me:{SECRET}",
        f"mariadb:/me:{SECRET}/",
        f"mysql://me@h/?passphrase={SECRET}",
        f"mysql://me@h/?x=1&PWD={SECRET}",
    ],
)
def test_name_in_the_place_of_a_file_shows_no_password(words, dsn, capfd):
    assert main([*words, dsn]) == 3
    captured = capfd.readouterr()
    assert SECRET not in captured.out + captured.err


@pytest.mark.parametrize(
    "text",
    [
        "write mysql://USER@HOST:PORT, or mysql://USER@/?socket=PATH",
        "live --dsn mysql://me@db1:3306 mysql://me@db2:3306",
        "mysql://me@db1: no connection",
        "mysql://db1:3306/ is not there",
        "s3://bucket/bin.000001:1234: it ends early",
        "write s3://, gs:// or me@host",
    ],
)
def test_text_without_password_stays(text):
    assert without_secrets(text) == text


@given(st.text(string.ascii_letters + "/#:@?&=! ", max_size=20), st.sampled_from(["me", "a@b"]))
def test_password_with_spaces_is_masked_up_to_the_last_at(text, user):
    shown = without_secrets(f"no file 'mysql:/{user}:{text}x9{text}9x@db1/'")
    assert "x9" not in shown
    assert "9x" not in shown
    assert shown.endswith("@db1/'")
