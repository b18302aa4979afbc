"""Servers that are already there: how they are named, and what they are asked for their log."""

from __future__ import annotations

import os
import struct
import zlib
from urllib.parse import quote

import pymysql
import pytest

from paraply.adapters.servers.binlog_dump import rotated_to
from paraply.adapters.servers.encryption import SslMode
from paraply.adapters.servers.existing import (
    PASSWORD_VARIABLE,
    Dsn,
    ExistingServer,
    parse_dsn,
)
from paraply.adapters.servers.ports import free_port
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.secrets import dsn_without_password


@pytest.fixture(autouse=True)
def no_password(monkeypatch):
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mysql://me@db1", Dsn(user="me", host="db1")),
        ("mysql://me@db1:3307/", Dsn(user="me", host="db1", port=3307)),
        ("mariadb://me@[::1]:3307", Dsn(user="me", host="::1", port=3307)),
        ("mysql://me@/?socket=/run/s.sock", Dsn(user="me", socket="/run/s.sock")),
        (
            "mysql://me@db1/?ssl_ca=/ca.pem",
            Dsn(user="me", host="db1", ssl_ca="/ca.pem", ssl_mode=SslMode.VERIFY_CA),
        ),
        (
            "mysql://me@db1/?ssl_mode=VERIFY_IDENTITY",
            Dsn(user="me", host="db1", ssl_mode=SslMode.VERIFY_IDENTITY),
        ),
        ("mysql://me@db1?ssl_mode=required", Dsn(user="me", host="db1", ssl_mode=SslMode.REQUIRED)),
        ("mysql://m%40e:x%2F%3A%40@db1", Dsn(user="m@e", password="x/:@", host="db1")),
    ],
)
def test_name_of_a_server_is_read(text, expected):
    assert parse_dsn(text) == expected


def test_password_may_stand_in_the_environment(monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, "s3cret")
    assert parse_dsn("mysql://me@db1").password == "s3cret"
    assert parse_dsn("mysql://me:other@db1").password == "other"
    assert parse_dsn("mysql://me:@db1").password == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("postgres://me:s3cret@db1", "begins with none of"),
        ("db1:3306", "begins with none of"),
        ("mysql://db1", "names no user"),
        ("mysql://me:s3cret@db1/shop", "schema"),
        ("mysql://me:s3cret@db1:none", "port is no number"),
        ("mysql://me:s3cret@db1:70000", "port is no number"),
        ("mysql://me:s3cret@[db1", "host is malformed"),
        ("mysql://me:s3cret@db1?s3cret", "NAME=VALUE"),
        ("mysql://me:s3cret@db1?S3cret%20=1", "options are socket, ssl_ca, ssl_mode"),
        ("mysql://me:s3cret@db1#s3cret", "'#' after the host"),
        ("mysql://me@/?socket=/tmp/a@b", "%40 for '@' in an option"),
        ("mysql://me:s3cret%ff@db1", "not UTF-8"),
        ("mysql://me%ff:s3cret@db1", "not UTF-8"),
        ("mysql://me:s3cret\udcff@db1", "not UTF-8"),
        ("mysql://me:s3cret@db1/?sokcet=/s", "no option 'sokcet'"),
        ("mysql://me:s3cret@db1/?ssl_mode=perhaps", "ssl_mode is one of disabled, preferred"),
        ("mysql://me:s3cret@db1/?ssl_mode=required&ssl_ca=/c", "ssl_ca is not used"),
    ],
)
def test_what_names_no_server_is_refused_without_its_password(text, reason):
    with pytest.raises(ParaplyError, match=reason) as raised:
        parse_dsn(text)
    assert str(raised.value).startswith("P613 --dsn ***")
    assert "s3cret" not in str(raised.value).lower()


@pytest.mark.parametrize("password", ["€uro5", "naïve", "日本語", "", "a:b@c"])
@pytest.mark.parametrize("is_in_environment", [False, True])
def test_driver_gets_the_password_as_utf_8(password, is_in_environment, monkeypatch):
    given = {}
    monkeypatch.setattr("pymysql.connect", lambda **settings: given.update(settings))
    if is_in_environment:
        monkeypatch.setenv(PASSWORD_VARIABLE, password)
    account = "me" if is_in_environment else f"me:{quote(password, safe='')}"
    ExistingServer(parse_dsn(f"mysql://{account}@db1"), name="source").connect()
    assert given["password"] == password.encode()


def test_driver_accepts_bytes_as_password():
    connection = pymysql.Connection(user="me", password="€".encode(), defer_connect=True)
    assert connection.password == "€".encode()


def test_password_of_the_environment_that_is_no_text_is_refused(monkeypatch):
    monkeypatch.setitem(os.environ, PASSWORD_VARIABLE, "s3cret\udcff")
    with pytest.raises(ParaplyError, match="not UTF-8") as raised:
        parse_dsn("mysql://me@db1", option="--source")
    assert str(raised.value).startswith("P613 --source ***@db1: ")
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("host", ["a" * 64, "a..b", "?socket=/tmp/a%00b", "?ssl_ca=/a%00b"])
def test_host_or_file_that_no_system_accepts_is_no_connection(host):
    server = ExistingServer(parse_dsn(f"mysql://me:s3cret@{host}"), name="source")
    with pytest.raises(ParaplyError, match="P614"):
        server.connect()


def test_password_is_never_printed():
    dsn = parse_dsn("mysql://me:s3cret@db1")
    assert "s3cret" not in f"{dsn} {dsn!r}"
    assert dsn_without_password("mysql://me:s3@cret@db1:1/") == "mysql://me@db1:1/"


def test_server_that_is_not_there_is_named_by_user_and_place():
    port = free_port()
    server = ExistingServer(parse_dsn(f"mysql://me:s3cret@127.0.0.1:{port}"), name="source")
    with pytest.raises(ParaplyError, match=f"me@127.0.0.1:{port}") as raised:
        server.query("SELECT 1")
    assert str(raised.value).startswith("P614")


def rotation(name, *, flags=0x20, is_checked=False, code=4):
    body = struct.pack("<Q", 4) + name
    size = 19 + len(body) + 4 * is_checked
    event = struct.pack("<IBIIIH", 0, code, 1, size, 0, flags) + body
    return event + (struct.pack("<I", zlib.crc32(event)) if is_checked else b"")


@pytest.mark.parametrize("is_checked", [False, True])
@pytest.mark.parametrize("name", ["bin.000001", "a.b-c.1000000", "bin"])
def test_file_that_follows_is_told_with_and_without_a_checksum(name, is_checked):
    assert rotated_to(rotation(name.encode(), is_checked=is_checked)) == name


def test_file_that_follows_is_never_outside_the_folder():
    assert rotated_to(rotation(b"../../etc/passwd")) == "passwd"


def test_rotation_that_the_log_itself_has_starts_no_file():
    assert rotated_to(rotation(b"bin.000002", flags=0)) is None
    assert rotated_to(rotation(b"bin.000002", code=15)) is None
