"""Record collation equalities from a live MariaDB 10.11, MySQL and MariaDB 11.8 (ten minutes).

It writes ``paraply/adapters/binlog/collation_data/`` from ``WEIGHT_STRING`` alone.

python -m ci.record_collations [--mariadb-basedir DIR] [--mysql-basedir DIR] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ci.collations.measure import Asked, ServerCollation, Weight, pair_windows
from ci.collations.tables import CONTRACTIONS_MAX, Table, write_compressed
from paraply.adapters.servers import ServerRoom, find_mariadb, find_mariadb_11_8, find_mysql
from paraply.vocabulary.errors import ParaplyError

OUT = Path(__file__).resolve().parent.parent / "paraply" / "adapters" / "binlog" / "collation_data"
UNICODE_CHARSETS = ("utf8mb3", "ucs2", "utf16", "utf16le", "utf32")
MULTI_BYTE_CHARSETS = frozenset(
    ("big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis")
)
NOT_TABLED = {
    "latin2_czech_cs": "compares words in several passes",
    "cp1250_czech_cs": "compares words in several passes",
    "utf8mb4_zh_0900_as_cs": "orders 40,000 ideographs anew: 200 kB for one collation",
    "utf8mb4_ja_0900_as_cs": "weighs repetition marks by the character before them",
    "utf8mb4_ja_0900_as_cs_ks": "weighs repetition marks by the character before them",
    "tis620_thai_ci": "moves vowel signs behind their consonant",
    "tis620_thai_nopad_ci": "moves vowel signs behind their consonant",
}
TAILORING_WINDOWS = (
    range(0x41, 0x250),
    range(0x386, 0x530),
    range(0x0D80, 0x0E00),
    range(0x1000, 0x10A0),
    range(0x3041, 0x3100),
)
"""Latin, Greek and Cyrillic, Sinhala, Myanmar, Kana."""


def by_representative(weights: dict[int, Weight]) -> dict[int, Weight]:
    """Return the least code point per weight.

    For Asian sets, this preserves equality and packs to a tenth.
    """
    least: dict[Weight, int] = {}
    for code in sorted(weights):
        least.setdefault(weights[code], code)
    return {code: (least[weight].to_bytes(3, "big"),) for code, weight in weights.items()}


def family_of(name: str) -> tuple[str, str]:
    """Return a utf8mb4 collation's (file, base)."""
    if "_uca1400_" in name:
        return "uca1400", f"utf8mb4_uca1400_{name[-5:]}"
    if "_0900_" in name:
        flavour = name.split("_0900_")[1].removesuffix("_ks")
        return "uca0900", f"utf8mb4_0900_{flavour}"
    if "general" in name:
        return "unicode", "utf8mb4_general_ci"
    if "_w2" in name:  # Two levels: nothing to share with a base of one.
        return "unicode", name
    if "_520" in name or "myanmar" in name:
        return "unicode", "utf8mb4_unicode_520_ci"
    return "unicode", "utf8mb4_unicode_ci"


class Recorder:
    """Collects both servers' tables, equal ones once."""

    def __init__(self) -> None:
        self.tables: dict[str, tuple[str, Table]] = {}
        self.windows = pair_windows()
        self.bases: dict[str, dict[int, Weight]] = {}
        self.listing: dict[str, Any] = {}
        self.charsets: dict[str, list[int]] = {}

    def record(self, server: Asked) -> None:
        """Measure every collation of one server."""
        server.load_characters()
        product = "mariadb" if server.is_mariadb else "mysql"
        listed = server.collations()
        names = {collation.name for collation in listed}
        entries: dict[str, object] = {}
        known: dict[str, str | None] = {}
        # Bases first, then their tailorings, then the twins in other character sets.
        for collation in sorted(listed, key=lambda each: _order(each, names)):
            reason = NOT_TABLED.get(collation.name, "")
            table = None if reason else self._table_of(server, collation, names, known)
            known[collation.name] = table
            if table == "":
                table, reason = None, "too many pairs deviate from their characters"
            entries[collation.name] = {
                "id": collation.number,
                "charset": collation.charset,
                "default": collation.is_default,
                "pad": "PAD SPACE" if collation.pads else "NO PAD",
                "weights": table,
            } | ({"why_not": reason} if reason else {})
            print(f"{product} {collation.name}: {table or reason}", flush=True)
        self.listing[product] = {"version": server.version, "collations": entries}
        for charset in sorted({each.charset for each in listed}):
            if charset in (*UNICODE_CHARSETS, "utf8mb4", "binary", *MULTI_BYTE_CHARSETS):
                continue
            points = server.byte_table(charset)
            if self.charsets.setdefault(charset, points) != points:
                self.charsets[f"{charset}@{product}"] = points

    def record_departures(self, server: Asked) -> None:
        """Add the collations of a newer MariaDB that the others lack, and its defaults.

        Its collations with MySQL's names of languages stay those of MySQL, although their weights
        differ (of 3,000 pairs of texts under each, up to 489 compare otherwise).
        """
        known = {
            name: facts
            for listed in self.listing.values()
            for name, facts in listed["collations"].items()
        }
        defaults = str(server.one("SELECT @@character_set_collations")[0]).split(",")
        entries: dict[str, object] = {}
        for collation in server.collations():
            is_default = f"{collation.charset}={collation.name}" in defaults
            if collation.name in known and not is_default:
                continue
            table = known.get(collation.name, {}).get("weights")
            entries[collation.name] = {
                "id": collation.number,
                "charset": collation.charset,
                "default": is_default,
                "pad": "PAD SPACE" if collation.pads else "NO PAD",
                "weights": table,
            } | ({} if table else {"why_not": "was not measured"})
        self.listing["mariadb-11.8"] = {"version": server.version, "collations": entries}

    def _table_of(
        self,
        server: Asked,
        collation: ServerCollation,
        names: set[str],
        known: dict[str, str | None],
    ) -> str | None:
        name, charset = collation.name, collation.charset
        if name == "binary" or name.endswith("_bin"):
            return "identity"
        twin = name.replace("_nopad_", "_")
        if twin != name and twin in names and not server.differing(name, charset, twin, charset):
            return known[twin]
        if charset == "utf8mb4":
            return self._unicode_table(server, name)
        twin = name.replace(charset, "utf8mb4", 1)
        if twin in names and not server.differing(name, charset, twin, "utf8mb4"):
            return known[twin]
        return self._legacy_table(server, name, charset)

    def _unicode_table(self, server: Asked, name: str) -> str:
        family, base = family_of(name)
        if name == base or base not in self.bases:
            weights = server.weights(name, "utf8mb4")
            self.bases[name] = weights
            table = Table(name=name, weights=weights)
            windows, everything = self.windows, True
        else:
            changed = server.differing(name, "utf8mb4", base, "utf8mb4")
            where = f"code IN ({','.join(map(str, changed))})" if changed else "FALSE"
            weights = server.weights(name, "utf8mb4", where)
            table = Table(name=name, base=base, weights=weights)
            touched = {code >> 7 for code in changed if code < 0x3000}
            windows = [window for window in self.windows if window[0] >> 7 in touched]
            windows += [
                [code for window in self.windows for code in window if code in span]
                for span in TAILORING_WINDOWS
            ]
            weights, everything = self.bases[base] | weights, False
        pairs = self._pairs(server, name, "utf8mb4", weights, windows, marks=everything)
        if len(pairs) > CONTRACTIONS_MAX:
            return ""
        if table.base:
            inherited = self.tables[table.base][1].contractions
            pairs |= server.pair_weights(name, inherited)
            table.contractions = {t: w for t, w in pairs.items() if inherited.get(t) != w}
        else:
            table.contractions = pairs
        return self._store(server, family, table)

    def _legacy_table(self, server: Asked, name: str, charset: str) -> str:
        weights = server.weights(
            name, charset, "code < 0x10000" if charset != "gb18030" else "TRUE"
        )
        codes = [
            code for code in weights if 0x20 <= code < 0x250 or charset not in MULTI_BYTE_CHARSETS
        ]
        windows = [codes[:400]] if charset not in UNICODE_CHARSETS else self.windows[:4]
        pairs = self._pairs(server, name, charset, weights, windows, marks=False)
        if len(pairs) > CONTRACTIONS_MAX:
            return ""
        if charset in MULTI_BYTE_CHARSETS:
            assert not pairs, name
            weights = by_representative(weights)
        return self._store(server, "legacy", Table(name=name, weights=weights, contractions=pairs))

    def _pairs(
        self,
        server: Asked,
        name: str,
        charset: str,
        weights: dict[int, Weight],
        windows: list[list[int]],
        *,
        marks: bool,
    ) -> dict[str, Weight]:
        server.hold_levels(weights, {code for window in windows for code in window})
        pairs: dict[str, Weight] = {}
        for window in windows:
            within = "{side}.code IN (" + ",".join(map(str, window)) + ")"
            pairs |= server.contractions(name, charset, within, within)
            if len(pairs) > CONTRACTIONS_MAX:
                return pairs
        if marks:
            pairs |= server.contractions(name, charset, "TRUE", "{side}.code BETWEEN 768 AND 879")
        return pairs

    def _store(self, server: Asked, family: str, table: Table) -> str:
        if table.name in self.tables:
            if self.tables[table.name][1] == table:
                return table.name
            table.name += "@mariadb" if server.is_mariadb else "@mysql"
        self.tables[table.name] = (family, table)
        return table.name

    def write(self, out: Path) -> None:
        """Write all files and print their sizes."""
        out.mkdir(parents=True, exist_ok=True)
        for family in sorted({family for family, _ in self.tables.values()}):
            chosen = [table for of, table in self.tables.values() if of == family]
            size = write_compressed(out / f"{family}.json.xz", chosen)
            print(f"{family}.json.xz: {len(chosen)} tables, {size} bytes")
        files = {name: family for name, (family, _) in sorted(self.tables.items())}
        for file, document in (
            ("collations.json", {"servers": self.listing, "tables": files}),
            ("charsets.json", self.charsets),
        ):
            text = json.dumps(document, sort_keys=True, separators=(",", ":"))
            (out / file).write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")


def _order(collation: ServerCollation, names: set[str]) -> tuple[int, bool, bool, str]:
    name = collation.name
    rank = 0 if collation.charset == "utf8mb4" else 1
    is_tailoring = rank == 0 and family_of(name)[1] != name
    return rank, name.replace("_nopad_", "_") != name, is_tailoring, name


def main(arguments: list[str] | None = None) -> int:
    """Measure and write; exit 3 without a server."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mariadb-basedir", type=Path)
    parser.add_argument("--mysql-basedir", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    recorder = Recorder()
    try:
        found = (find_mariadb(options.mariadb_basedir), find_mysql(options.mysql_basedir))
        for installation in found:
            with ServerRoom() as room:
                recorder.record(Asked(room.start(installation)))
        with ServerRoom() as room:
            recorder.record_departures(Asked(room.start(find_mariadb_11_8())))
    except ParaplyError as error:
        print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
        return 3
    recorder.write(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
