"""Tables per column type with boundary values."""

from __future__ import annotations

from ci.binlogs.session import Session

Values = list[str]
"""SQL literals."""

_POINT = "ST_GeomFromText('POINT(1 2)')"
_INTEGERS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}


def integer_types() -> dict[str, Values]:
    """Return every integer type with its extremes."""
    found: dict[str, Values] = {}
    for name, bits in _INTEGERS.items():
        found[name] = ["0", "1", "-1", str(-(2 ** (bits - 1))), str(2 ** (bits - 1) - 1)]
        found[f"{name} unsigned"] = ["0", "1", str(2 ** (bits - 1)), str(2**bits - 1)]
    found["bool"] = ["TRUE", "FALSE"]
    for width in (1, 7, 8, 9, 33, 64):
        found[f"bit({width})"] = ["b'0'", "b'1'", f"b'{'1' * width}'", f"b'1{'0' * (width - 1)}'"]
    return found


def number_types() -> dict[str, Values]:
    """Return fixed and floating point."""
    found: dict[str, Values] = {
        "float": ["0", "-0.0", "1.5", "-3.4028234e38", "1.17549435e-38", "0.1"],
        "double": ["0", "1.7976931348623157e308", "-2.2250738585072014e-308", "0.1", "-1e-5"],
    }
    for digits, decimals in ((1, 0), (5, 2), (9, 9), (10, 0), (18, 9), (30, 15), (65, 30), (65, 0)):
        whole, part = "9" * (digits - decimals) or "0", "9" * decimals
        most = f"{whole}.{part}" if part else whole
        least = f"0.{'0' * (decimals - 1)}1" if decimals else "1"
        found[f"decimal({digits},{decimals})"] = ["0", most, f"-{most}", least, f"-{least}"]
    return found


def time_types() -> dict[str, Values]:
    """Return temporal types, fractions and zeros included."""
    found: dict[str, Values] = {
        "date": ["'1000-01-01'", "'9999-12-31'", "'2024-02-29'", "'0000-00-00'", "'2024-00-00'"],
        "year": ["1901", "2155", "0", "2024"],
    }
    for digits in range(7):
        part = "." + "987654"[:digits] if digits else ""
        tiny = "." + "0" * (digits - 1) + "1" if digits else ""
        suffix = f"({digits})" if digits else ""
        most = "." + "0" * 6  # 838:59:59 admits no fraction.
        found[f"time{suffix}"] = [
            "'00:00:00'", f"'-00:00:01{tiny}'", f"'-00:00:00{tiny}'", f"'12:34:56{part}'",
            f"'-12:34:56{part}'", f"'838:59:59{most[:digits + 1] if digits else ''}'",
            f"'-838:59:59{most[:digits + 1] if digits else ''}'",
        ]  # fmt: skip
        found[f"datetime{suffix}"] = [
            "'1000-01-01 00:00:00'", f"'9999-12-31 23:59:59{part}'", "'0000-00-00 00:00:00'",
            f"'2024-02-29 12:34:56{part}'", f"'1969-12-31 23:59:59{tiny}'", "'2024-00-00 01:02:03'",
        ]  # fmt: skip
        found[f"timestamp{suffix}"] = [
            f"'1970-01-01 00:00:01{tiny}'", f"'2038-01-19 03:14:07{part}'",
            "'0000-00-00 00:00:00'", f"'2024-02-29 12:34:56{part}'",
        ]  # fmt: skip
    return found


def text_types() -> dict[str, Values]:
    """Return strings of all lengths and character sets."""
    found: dict[str, Values] = {}
    for charset, samples in {
        "utf8mb4": ["''", "'a'", "'Ünïcødé €'", "'😀 ß'", "'trailing  '"],
        "utf8mb3": ["''", "'Ünïcødé €'", "'東京'"],
        "latin1": ["''", "'naïve €'", "'ÿþ'"],
        "ascii": ["''", "'plain'"],
        "cp1251": ["'Привет'"],
        "koi8r": ["'Привет'"],
        "latin2": ["'Łódź'"],
        "greek": ["'Ελλάδα'"],
        "hebrew": ["'שלום'"],
        "sjis": ["'日本語ｶﾅ'"],
        "cp932": ["'日本語'"],
        "ujis": ["'日本語'"],
        "euckr": ["'한국어'"],
        "gbk": ["'中文'"],
        "big5": ["'中文'"],
        "ucs2": ["'Ünïcødé'"],
        "utf16": ["'😀 ß'"],
        "utf16le": ["'😀 ß'"],
        "utf32": ["'😀 ß'"],
    }.items():
        found[f"varchar(40) character set {charset}"] = samples
        found[f"char(20) character set {charset}"] = samples
    for kind, length in (("char", 255), ("varchar", 255), ("varchar", 256), ("varchar", 5000)):
        found[f"{kind}({length})"] = ["''", f"REPEAT('x', {min(length, 400)})", "'é'"]
    for kind in ("tinytext", "text", "mediumtext", "longtext"):
        found[kind] = ["''", "REPEAT('ab', 100)", "'Ünï'"]
    for kind in ("tinyblob", "blob", "mediumblob", "longblob"):
        found[kind] = ["''", "X'00'", "X'00FF80007F'", "REPEAT(X'00FF', 100)"]
    for kind in ("binary(1)", "binary(16)", "binary(255)", "varbinary(16)", "varbinary(300)"):
        found[kind] = ["''", "X'00'", "X'FF'"]
    many = ",".join(f"'v{number}'" for number in range(300))
    found["enum('a','b','c')"] = ["'a'", "'c'"]
    found["enum('é','ß') character set latin1"] = ["'é'", "'ß'"]
    found[f"enum({many})"] = ["'v0'", "'v255'", "'v299'"]
    found["set('a','b','c')"] = ["''", "'a'", "'a,c'", "'a,b,c'"]
    members = ",".join(f"'m{number}'" for number in range(64))
    found[f"set({members})"] = ["''", "'m0'", "'m63'", "'m0,m31,m32,m63'"]
    return found


def spatial_types() -> dict[str, Values]:
    """Return the geometry types."""
    return {
        "point": [_POINT, "ST_GeomFromText('POINT(-1e300 1e-300)')"],
        "linestring": ["ST_GeomFromText('LINESTRING(0 0,1 1,2 0)')"],
        "polygon": ["ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1))')"],
        "multipoint": ["ST_GeomFromText('MULTIPOINT(0 0,1 1)')"],
        "multilinestring": ["ST_GeomFromText('MULTILINESTRING((0 0,1 1),(2 2,3 3))')"],
        "multipolygon": ["ST_GeomFromText('MULTIPOLYGON(((0 0,1 0,1 1,0 0)))')"],
        "geometrycollection": ["ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1))')"],
        "geometry": [_POINT, "ST_GeomFromText('POINT(1 1)', 4326)"],
    }


def json_documents() -> Values:
    """Return documents of every binary JSON shape."""
    wide = "CONCAT('{', '\"k0\": 0', REPEAT(', \"kx\": \"yyyyyyyyyyyyyyyyyyyy\"', 2), '}')"
    numbers = (
        "0,1,-1,32767,-32768,32768,-32769,2147483647,-2147483648,2147483648,"
        "9223372036854775807,-9223372036854775808,18446744073709551615,1.5,-1e300,0.1"
    )
    return [
        "'null'", "'true'", "'false'", "'0'", "'-1'", "'70000'", "'1e10'", "'\"text\"'", "'\"\"'",
        "'[]'", "'{}'", f"'[{numbers}]'", "'{\"a\": {\"b\": [1, [2, {\"c\": null}]]}}'",
        "'{\"ключ\": \"значение\", \"😀\": \"\\\\u0001\\\\\"\"}'", wide,
        f"CONCAT('\"', REPEAT('{'q' * 50}', 5), '\"')",
    ]  # fmt: skip


LARGE_JSON = f"CONCAT('[', REPEAT('\"{'z' * 90}\", ', 720), '1]')"
"""Needs wider offsets above 64 KiB."""


def mysql_json_scalars() -> Values:
    """Return opaque JSON decimals, times and blobs."""
    return [
        "CAST(CAST('123456789.987654321' AS DECIMAL(30,9)) AS JSON)",
        "CAST(TIMESTAMP'2024-02-29 12:34:56.789' AS JSON)",
        "CAST(DATE'2024-02-29' AS JSON)",
        "CAST(TIME'-12:34:56.5' AS JSON)",
        "JSON_ARRAY(X'00FF', 1.25, DATE'1999-12-31')",
        "CAST(ST_GeomFromText('POINT(1 2)') AS JSON)",
    ]


def all_types(session: Session) -> dict[str, dict[str, Values]]:
    """Return the server's supported types, by table."""
    found = {
        "integers": integer_types(),
        "numbers": number_types(),
        "times": time_types(),
        "texts": text_types(),
        "spatial": spatial_types(),
        "documents": {"json": json_documents()},
    }
    if session.is_mariadb:
        found["addresses"] = {
            "inet6": ["'::'", "'2001:db8::ff00:42:8329'", "'::ffff:192.0.2.1'"],
            "inet4": ["'0.0.0.0'", "'255.255.255.255'", "'192.0.2.1'"],
            "uuid": [
                "'00000000-0000-0000-0000-000000000000'",
                "'123e4567-e89b-12d3-a456-426655440000'",
                "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
            ],
        }
        found["compressed"] = {
            "varchar(500) compressed": ["''", "REPEAT('a', 400)"],
            "text compressed": ["''", "REPEAT('b', 900)"],
            "blob compressed": ["X'00'", "REPEAT(X'00', 900)"],
        }
    else:
        found["documents"]["json"] += [LARGE_JSON, *mysql_json_scalars()]
        if session.server.installation.version >= (9, 0, 0):
            found["vectors"] = {
                "vector(3)": ["STRING_TO_VECTOR('[1,2,3]')", "STRING_TO_VECTOR('[-0.5,0,1e10]')"],
                "vector(1)": ["STRING_TO_VECTOR('[0.1]')"],
            }
    return found


def write_all_types(session: Session) -> None:
    """Insert, update and delete a row per value."""
    session.run("CREATE DATABASE kinds CHARACTER SET utf8mb4")
    lenient = "SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'"
    for table, types in all_types(session).items():
        columns = [f"c{number} {kind} NULL" for number, kind in enumerate(types)]
        session.run(
            lenient,
            f"CREATE TABLE kinds.{table} (id INT NOT NULL PRIMARY KEY, {', '.join(columns)})"
            " ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
        )
        depth = max(len(values) for values in types.values())
        statements = [lenient]
        for row in range(depth):
            cells = [values[row] if row < len(values) else "NULL" for values in types.values()]
            statements.append(f"INSERT INTO kinds.{table} VALUES ({row}, {', '.join(cells)})")
        nulls = ", ".join("NULL" for _ in types)
        statements.append(f"INSERT INTO kinds.{table} VALUES ({depth}, {nulls})")
        moved = ", ".join(f"c{n} = {values[-1]}" for n, values in enumerate(types.values()))
        statements += [
            f"UPDATE kinds.{table} SET {moved} WHERE id = {depth}",
            f"UPDATE kinds.{table} SET c0 = NULL WHERE id = 0",
            f"DELETE FROM kinds.{table} WHERE id = 1",
        ]
        session.run(*statements)


def update_documents_in_part(session: Session) -> None:
    """Update JSON by logged differences."""
    session.run(
        "CREATE DATABASE kinds",
        "CREATE TABLE kinds.part (id INT PRIMARY KEY, d JSON, e JSON, v VARCHAR(20))",
        "INSERT INTO kinds.part VALUES (1, JSON_OBJECT('a', 1, 'b', JSON_ARRAY(1, 2, 3), 'c',"
        " REPEAT('x', 200)), JSON_ARRAY(1, JSON_OBJECT('k', 'v'), NULL), 'one'),"
        " (2, JSON_OBJECT('a', 'long enough text', 'n', JSON_OBJECT('m', 1.5)), '[]', 'two')",
        "UPDATE kinds.part SET d = JSON_SET(d, '$.a', 2) WHERE id = 1",
        "UPDATE kinds.part SET d = JSON_REPLACE(d, '$.b[1]', 'two'), v = 'new' WHERE id = 1",
        "UPDATE kinds.part SET d = JSON_REMOVE(d, '$.b[0]') WHERE id = 1",
        "UPDATE kinds.part SET d = JSON_SET(d, '$.new', JSON_OBJECT('deep', JSON_ARRAY(1)))"
        " WHERE id = 2",
        "UPDATE kinds.part SET e = JSON_SET(e, '$[1].k', 'w'), d = JSON_REMOVE(d, '$.a')",
        "UPDATE kinds.part SET d = JSON_ARRAY_INSERT(d, '$.b[0]', 'first') WHERE id = 1",
        "UPDATE kinds.part SET d = '{\"whole\": true}' WHERE id = 2",
        "UPDATE kinds.part SET d = JSON_SET(d, '$.whole', CAST(1.25 AS DECIMAL(5,2))) WHERE id = 2",
        "UPDATE kinds.part SET v = 'only text' WHERE id = 1",
    )
