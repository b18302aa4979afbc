"""Columns of every type, with two values each, for comparison with what a server SELECTs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LiveColumn:
    """``shown`` selects the value in the form that the decoder gives it."""

    name: str
    sql_type: str
    values: tuple[str, str]
    since: tuple[int, int, int] = (0, 0, 0)

    @property
    def is_json(self) -> bool:
        return self.sql_type == "JSON"

    @property
    def shown(self) -> str:
        kind = self.sql_type.split("(")[0].split(" ")[0]
        if kind in ("DATE", "TIME", "DATETIME", "TIMESTAMP"):
            return f"CAST({self.name} AS CHAR)"
        if kind == "BIT":
            return f"{self.name} + 0"
        if kind == "VECTOR":
            return f"CAST({self.name} AS BINARY)"
        if kind == "UUID":
            return f"UNHEX(REPLACE({self.name}, '-', ''))"
        if kind == "INET6":
            return f"INET6_ATON({self.name})"
        if kind == "INET4":
            return f"UNHEX(LPAD(HEX(INET_ATON({self.name})), 8, '0'))"
        return self.name


def _members(prefix: str, count: int) -> str:
    return ", ".join(f"'{prefix}{number}'" for number in range(count))


SHARED = [
    LiveColumn("i1", "TINYINT", ("-128", "127")),
    LiveColumn("u1", "TINYINT UNSIGNED", ("255", "0")),
    LiveColumn("i2", "SMALLINT", ("-32768", "5")),
    LiveColumn("u2", "SMALLINT UNSIGNED", ("65535", "1")),
    LiveColumn("i3", "MEDIUMINT", ("-8388608", "77")),
    LiveColumn("u3", "MEDIUMINT UNSIGNED", ("16777215", "3")),
    LiveColumn("y", "YEAR", ("1901", "0")),
    LiveColumn("i4", "INT", ("-2147483648", "9")),
    LiveColumn("u4", "INT UNSIGNED", ("4294967295", "4")),
    LiveColumn("i8", "BIGINT", ("-9223372036854775808", "1")),
    LiveColumn("u8", "BIGINT UNSIGNED", ("18446744073709551615", "2")),
    LiveColumn("f4", "FLOAT", ("1.5", "-0.1")),
    LiveColumn("f8", "DOUBLE", ("1e300", "-0.1")),
    LiveColumn("n1", "DECIMAL(65,30)", ("-" + "1234567890" * 3 + ".5" + "1" * 28, "1.5")),
    LiveColumn("n2", "DECIMAL(10,2)", ("-0.01", "99999999.99")),
    LiveColumn("n3", "DECIMAL(5,5)", ("0.12345", "-0.00001")),
    LiveColumn("n4", "DECIMAL(9,0)", ("999999999", "-1")),
    LiveColumn("n5", "DECIMAL(4,1) UNSIGNED", ("12.5", "0")),
    LiveColumn("b1", "BIT(1)", ("1", "0")),
    LiveColumn("b13", "BIT(13)", ("b'1010101010101'", "3")),
    LiveColumn("b64", "BIT(64)", ("18446744073709551615", "1")),
    LiveColumn("d", "DATE", ("'2024-02-29'", "'0000-00-00'")),
    LiveColumn("t0", "TIME", ("'-838:59:59'", "'12:00:01'")),
    LiveColumn("t1", "TIME(1)", ("'-00:00:00.1'", "'01:02:03.9'")),
    LiveColumn("t2", "TIME(2)", ("'-10:00:00.25'", "'01:02:03.99'")),
    LiveColumn("t3", "TIME(3)", ("'-01:02:03.456'", "'00:00:00.001'")),
    LiveColumn("t5", "TIME(5)", ("'-01:02:03.45678'", "'00:00:00.00001'")),
    LiveColumn("t6", "TIME(6)", ("'-01:02:03.456789'", "'838:59:58.999999'")),
    LiveColumn("m0", "DATETIME", ("'9999-12-31 23:59:59'", "'0000-00-00 00:00:00'")),
    LiveColumn("m1", "DATETIME(1)", ("'2024-01-02 03:04:05.6'", "'1000-01-01'")),
    LiveColumn("m3", "DATETIME(3)", ("'2024-01-02 03:04:05.678'", "'2024-00-00'")),
    LiveColumn("m6", "DATETIME(6)", ("'2024-01-02 03:04:05.678901'", "'2024-01-02'")),
    LiveColumn("s0", "TIMESTAMP NULL", ("'2024-01-02 03:04:05'", "'1970-01-01 00:00:01'")),
    LiveColumn("s3", "TIMESTAMP(3) NULL", ("'2024-01-02 03:04:05.678'", "'2038-01-19 03:14:07'")),
    LiveColumn("s6", "TIMESTAMP(6) NULL", ("'2024-01-02 03:04:05.678901'", "'1999-12-31'")),
    LiveColumn("c1", "CHAR(10)", ("'abc  '", "'é'")),
    LiveColumn("c2", "CHAR(10) CHARACTER SET latin1", ("'é€'", "''")),
    LiveColumn("c3", "CHAR(200) CHARACTER SET utf8mb4", ("'日本'", "REPEAT('x', 200)")),
    LiveColumn("r1", "BINARY(8)", ("x'0001020000'", "x''")),
    LiveColumn("r2", "BINARY(200)", ("REPEAT('q', 200)", "'z'")),
    LiveColumn("v1", "VARCHAR(20)", ("'hello  '", "''")),
    LiveColumn("v2", "VARCHAR(300) CHARACTER SET utf8mb4", ("REPEAT('é', 300)", "'😀'")),
    LiveColumn("v3", "VARBINARY(300)", ("x'00FF00'", "x''")),
    LiveColumn("v4", "VARCHAR(20) CHARACTER SET gbk", ("'中文'", "'a'")),
    LiveColumn("v5", "VARCHAR(20) CHARACTER SET ucs2", ("'日本'", "'a'")),
    LiveColumn("v6", "VARCHAR(20) CHARACTER SET sjis", ("'日本'", "'a'")),
    LiveColumn("x1", "TINYTEXT", ("'tiny'", "''")),
    LiveColumn("x2", "TEXT", ("REPEAT('t', 300)", "'x'")),
    LiveColumn("x3", "MEDIUMTEXT", ("'m'", "'x'")),
    LiveColumn("x4", "LONGTEXT CHARACTER SET latin1", ("'ü'", "'x'")),
    LiveColumn("o1", "TINYBLOB", ("x'00'", "x''")),
    LiveColumn("o2", "BLOB", ("x'FF00'", "x''")),
    LiveColumn("o3", "MEDIUMBLOB", ("x'FF00'", "x''")),
    LiveColumn("o4", "LONGBLOB", ("REPEAT(x'FF', 70000)", "x''")),
    LiveColumn("e1", "ENUM('a', 'b', 'ü') CHARACTER SET latin1", ("'ü'", "'a'")),
    LiveColumn("e2", f"ENUM({_members('v', 300)})", ("'v299'", "'v0'")),
    LiveColumn("k1", "SET('x', 'y', 'z')", ("'x,z'", "''")),
    LiveColumn("k2", f"SET({_members('m', 64)})", ("'m0,m63'", "'m8'")),
    LiveColumn("g1", "GEOMETRY", ("ST_GeomFromText('POINT(1 2)')", "NULL")),
    LiveColumn("g2", "POINT", ("ST_GeomFromText('POINT(3 4)')", "NULL")),
    LiveColumn("nothing", "INT", ("NULL", "NULL")),
]

_DOCUMENT = (
    """'{"a": 1, "b": [1, -2, 70000, 5000000000, 18446744073709551615, 1.5, 1e20, true, false,"""
    """ null, "é\\\\n\\\\"q\\\\""], "o": {"x": {}}}'"""
)
MYSQL_ONLY = [
    LiveColumn("j1", "JSON", (_DOCUMENT, "'[]'")),
    LiveColumn(
        "j2",
        "JSON",
        (
            "JSON_OBJECT('d', CAST('2024-01-02' AS DATE), 'm', CAST('2024-01-02 03:04:05.678' AS"
            " DATETIME(6)), 't', CAST('-01:02:03.5' AS TIME(6)), 'n', CAST(-12.340 AS"
            " DECIMAL(10,3)), 'b', CAST('ab' AS BINARY), 'y', CAST(2024 AS YEAR))",
            "JSON_ARRAY(REPEAT('x', 70000), 1, 65536, -40000)",
        ),
    ),
    LiveColumn(
        "w1",
        "VECTOR(3)",
        ("STRING_TO_VECTOR('[1,2,-3.5]')", "STRING_TO_VECTOR('[0,0,0]')"),
        (9, 0, 0),
    ),
    LiveColumn("after_vector", "VARCHAR(10)", ("'after'", "'v'")),
]
MARIADB_ONLY = [
    LiveColumn(
        "uu", "UUID",
        ("'123e4567-e89b-12d3-a456-426655440000'", "'00000000-0000-0000-0000-000000000000'"),
        (10, 7, 0),
    ),
    LiveColumn("p6", "INET6", ("'2001:db8::1'", "'::'"), (10, 5, 0)),
    LiveColumn("p4", "INET4", ("'1.2.3.4'", "'0.0.0.0'"), (10, 10, 0)),
    LiveColumn("j1", "JSON", ("""'{"a": 1}'""", "'[]'"), (10, 2, 0)),
    LiveColumn("z1", "TEXT COMPRESSED", ("REPEAT('compressible ', 200)", "'s'"), (10, 3, 0)),
    LiveColumn("z2", "VARCHAR(3000) COMPRESSED", ("REPEAT('abc', 900)", "''"), (10, 3, 0)),
    LiveColumn("z3", "BLOB COMPRESSED", ("REPEAT(x'00', 900)", "''"), (10, 3, 0)),
]  # fmt: skip
