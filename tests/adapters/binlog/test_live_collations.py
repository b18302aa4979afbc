"""Folds beside real servers: equal here if and only if the server says so."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from paraply.adapters.binlog.charsets import codec_of
from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.keys.collation_weights import collation_entries
from paraply.adapters.binlog.keys.collations import COARSE_FOLD, fold_of, is_exact, text_of
from paraply.adapters.binlog.schema.dump import load_schema_text
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import (
    Server,
    ServerRoom,
    find_mariadb,
    find_mariadb_11_8,
    find_mysql,
)
from paraply.vocabulary.errors import ParaplyError

pytestmark = pytest.mark.live

FINDERS = {"mariadb": find_mariadb, "mariadb-11.8": find_mariadb_11_8, "mysql": find_mysql}
MYSQL_LANGUAGE = re.compile(r"utf8mb4_\w+_0900_\w+")
SEED = 20
PAIRS = 200
ALPHABETS = (
    "aAbBeEhHiIjJsSyYzZ ",
    "aàáâãäåæAÄÅÆeéèêëEÉoöøœOÖØuüvwyßsS ",
    "ÀĀĂĄĆČĎĐĒĘĚĞĢĪĮĶŁŃŅŇŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽ ĳĴľ",
    "абвгдеёжийАБВЁЙ αάβγςσΣΑΆ",
    "あアかがカガー一丁🙂😀𝄞",
    "\t\n\u00a0\u00ad\u0301\u0308e ",
)


@pytest.fixture(scope="module", params=FINDERS)
def server(request) -> Iterator[Server]:
    try:
        installation = FINDERS[request.param]()
    except ParaplyError as reason:
        pytest.skip(str(reason))
    with ServerRoom() as room:
        print(f"live: {installation.version_text}, seed {SEED}")
        yield room.start(installation, options=["--binlog-row-metadata=MINIMAL"])


def _pairs(collation: str, count: int) -> list[tuple[str, str]]:
    """Return pairs of short texts, half of them near each other."""
    choose = random.Random(f"{SEED} {collation}")
    charset = collation_entries()[collation].charset
    pairs = []
    while len(pairs) < count:
        alphabet = choose.choice(ALPHABETS)
        one = "".join(choose.choices(alphabet, k=choose.randrange(6)))
        other = list(one)
        for _ in range(choose.randrange(3)):
            if other and choose.random() < 0.6:
                other[choose.randrange(len(other))] = choose.choice(alphabet)
            else:
                other.insert(choose.randrange(len(other) + 1), choose.choice(alphabet))
        two = choose.choice(["".join(other), one.swapcase(), one + " "])
        if all(_fits(text, charset) for text in (one, two)):
            pairs.append((one, two))
    return pairs


def _fits(text: str, charset: str) -> bool:
    if charset in ("utf8mb3", "ucs2") and any(ord(character) > 0xFFFF for character in text):
        return False
    try:
        return text_of(charset)(text.encode(codec_of(charset))) == text
    except UnicodeEncodeError:
        return False


def _literal(text: str, charset: str) -> str:
    return f"_{charset} X'{text.encode(codec_of(charset)).hex()}'"


def _collations(server: Server) -> list[str]:
    """Return collations of every kind that this server has and whose text can be written here."""
    rows = server.query("SELECT collation_name FROM information_schema.collations")
    if server.is_mariadb:
        rows = server.query(
            "SELECT full_collation_name FROM"
            " information_schema.collation_character_set_applicability"
        )
    names = sorted(str(row[0]) for row in rows)
    known = [
        name
        for name in names
        if name in collation_entries()
        # MariaDB 11.4 and newer have tailorings of their own under MySQL's names of languages.
        and not (server.is_mariadb and MYSQL_LANGUAGE.fullmatch(name))
        and fold_of(name).certain
        and codec_of(collation_entries()[name].charset)
        and name != "binary"
    ]
    # All of utf8mb4 and latin1, and a sample of the others, which mostly are their twins.
    chosen = [name for name in known if name.startswith(("utf8mb4_", "latin1_"))]
    rest = [name for name in known if name not in chosen]
    return chosen + random.Random(SEED).sample(rest, min(20, len(rest)))


def test_texts_fold_alike_if_and_only_if_the_server_holds_them_equal(server):
    equal = different = 0
    wrong = []
    # MariaDB 11.8 differs from 10.11 in few places.
    count = PAIRS // 4 if server.installation.version[:2] == (11, 8) else PAIRS
    for collation in _collations(server):
        charset = collation_entries()[collation].charset
        fold = fold_of(collation)
        pairs = [
            (one, two)
            for one, two in _pairs(collation, count)
            if fold(one) is not None and fold(two) is not None
        ]
        comparisons = ", ".join(
            f"{_literal(one, charset)} = {_literal(two, charset)} COLLATE {collation}"
            for one, two in pairs
        )
        (answers,) = server.run(["SET NAMES utf8mb4", f"SELECT {comparisons}"])
        for (one, two), answer in zip(pairs, answers, strict=True):
            same = fold(one) == fold(two)
            if same != bool(int(answer)) and is_exact(collation, one + two):
                wrong.append((collation, one, two, "ours equal" if same else "ours different"))
            if int(answer) and COARSE_FOLD(one) is not None and COARSE_FOLD(two) is not None:
                assert COARSE_FOLD(one) == COARSE_FOLD(two), (collation, one, two)
            equal += bool(int(answer))
            different += not int(answer)
    assert not wrong, wrong[:20]
    assert equal > 1_000
    assert different > 1_000


def test_unique_values_that_the_server_refuses_share_a_key(server):
    """Insert, delete, insert again what the collation holds equal: ours must meet in the key."""
    server.run(
        [
            "DROP DATABASE IF EXISTS live",
            "CREATE DATABASE live CHARACTER SET utf8mb4",
            "FLUSH BINARY LOGS",
            "CREATE TABLE live.t (id INT PRIMARY KEY, w VARCHAR(20) CHARACTER SET utf8mb4"
            " COLLATE utf8mb4_unicode_ci, UNIQUE KEY w (w(3)))",
            "INSERT INTO live.t VALUES (1, 'Straße')",
            "DELETE FROM live.t WHERE id = 1",
            "INSERT INTO live.t VALUES (2, 'STRudel')",
        ]
    )
    ((_, definition),) = server.query("SHOW CREATE TABLE live.t")
    registry = SchemaRegistry()
    load_schema_text(registry, f"USE live; {definition};", "show create table")
    log = str(server.binary_logs()[-1])
    rows = [txn for txn in follow(KeyBuilder(registry), read_transactions([log])) if txn.rows]
    assert len(rows) == 3
    first, _, last = rows
    assert {key.index for key in first.keys & last.keys} == {"w"}


def test_keys_meet_where_the_default_collation_of_a_character_set_holds_texts_equal(server):
    """The log has neither a collation nor metadata: keys meet, or are known to be incomplete."""
    equal = set()
    for charset in ("utf8mb4", "utf8mb3", "ucs2", "utf16", "utf32"):
        setup = [
            "DROP DATABASE IF EXISTS live",
            "CREATE DATABASE live",
            "FLUSH BINARY LOGS",
            f"CREATE TABLE live.t (v VARCHAR(9) CHARACTER SET {charset} PRIMARY KEY)",
        ]
        server.run([*setup, "INSERT INTO live.t VALUES ('ß')"])
        if not server.query("SELECT * FROM live.t WHERE v = 'ss'"):
            continue
        equal.add(charset)
        server.run(["DELETE FROM live.t", "INSERT INTO live.t VALUES ('ss')"])
        log = str(server.binary_logs()[-1])
        *_, deleted, inserted = follow(KeyBuilder(SchemaRegistry()), read_transactions([log]))
        meet = deleted.keys & inserted.keys
        assert meet or "live.t" in deleted.partly_keyed_tables, charset
    assert "utf8mb4" in equal or server.installation.version < (11, 0, 0)
    assert len(equal) == 5 or server.installation.version[:2] != (11, 8)
