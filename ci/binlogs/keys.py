"""Key scenarios: collations, prefixes, NULLs, swaps, foreign keys."""

from __future__ import annotations

from ci.binlogs.session import Session


def write_keys(session: Session) -> None:
    """Move unique values between transactions."""
    collations = {
        "general_ci": "utf8mb4_general_ci",
        "unicode_ci": "utf8mb4_unicode_ci",
        "unicode_520_ci": "utf8mb4_unicode_520_ci",
        "bin": "utf8mb4_bin",
        "swedish": "latin1_swedish_ci",
        "latin1_bin": "latin1_bin",
        "latin1_cs": "latin1_general_cs",
        "utf8mb3": "utf8mb3_general_ci",
        "ascii": "ascii_general_ci",
        "german2": "latin1_german2_ci",
    }
    if session.is_mariadb:
        collations |= {
            "ai": "utf8mb4_uca1400_ai_ci",
            "as": "utf8mb4_uca1400_as_cs",
            "nopad": "utf8mb4_general_nopad_ci",
        }
    else:
        collations |= {
            "ai": "utf8mb4_0900_ai_ci",
            "as": "utf8mb4_0900_as_cs",
            "bin_nopad": "utf8mb4_0900_bin",
            "danish": "utf8mb4_da_0900_ai_ci",
        }
    session.run("CREATE DATABASE folded")
    for table, collation in collations.items():
        charset = collation.split("_")[0]
        session.run(
            f"CREATE TABLE folded.{table} (id INT PRIMARY KEY, w VARCHAR(30) CHARACTER SET"
            f" {charset} COLLATE {collation}, UNIQUE KEY w (w))"
        )
        words = ["a", "straße", "Ærø", "résumé", "pad "] if charset != "ascii" else ["a", "pad "]
        for number, word in enumerate(words):
            # Only the collation may equate the second row's value with the first.
            other = {"straße": "STRASSE", "Ærø": "AERO", "pad ": "pad"}.get(word, word.upper())
            if charset == "latin1" and word == "résumé":
                other = "RESUME"
            session.run(
                f"INSERT INTO folded.{table} VALUES ({number * 2}, '{word}')",
                f"DELETE FROM folded.{table} WHERE id = {number * 2}",
                f"INSERT INTO folded.{table} VALUES ({number * 2 + 1}, '{other}')",
            )
    session.run(
        "CREATE TABLE folded.prefix (id INT PRIMARY KEY, p VARCHAR(60) CHARACTER SET utf8mb4"
        " COLLATE utf8mb4_general_ci, b VARBINARY(60), t TEXT, UNIQUE KEY p (p(4)),"
        " UNIQUE KEY b (b(2)), UNIQUE KEY t (t(3)))",
        "INSERT INTO folded.prefix VALUES (1, 'ÄBCDefg', X'0001AA', 'xyz1')",
        "DELETE FROM folded.prefix WHERE id = 1",
        "INSERT INTO folded.prefix VALUES (2, 'abcdXYZ', X'0001BB', 'XYZ2')",
        "UPDATE folded.prefix SET p = 'abcdother' WHERE id = 2",
        "INSERT INTO folded.prefix VALUES (3, NULL, NULL, NULL)",
        "INSERT INTO folded.prefix VALUES (4, NULL, NULL, NULL)",
        "CREATE TABLE folded.pairs (id INT PRIMARY KEY, a INT NULL, b VARCHAR(9) NULL,"
        " UNIQUE KEY ab (a, b))",
        "INSERT INTO folded.pairs VALUES (1, 1, 'x'), (2, 1, NULL), (3, NULL, 'x'), (4, 1, NULL)",
        "DELETE FROM folded.pairs WHERE id = 1",
        "INSERT INTO folded.pairs VALUES (5, 1, 'X')",
        "CREATE TABLE folded.swap (id INT PRIMARY KEY, u INT NULL, UNIQUE KEY u (u))",
        "INSERT INTO folded.swap VALUES (1, 10), (2, 20), (3, 30)",
        "CREATE TABLE folded.unique_only (u DECIMAL(10,3) NOT NULL, d DATETIME(3) NOT NULL, v INT,"
        " UNIQUE KEY ud (u, d))",
        "INSERT INTO folded.unique_only VALUES (1.5, '2024-01-01 00:00:00.123', 1)",
        "UPDATE folded.unique_only SET u = 1.50, v = 2",
    )
    for first, second in ((1, 2), (2, 3), (1, 3)):
        session.transaction(
            f"SELECT u INTO @one FROM folded.swap WHERE id = {first}",
            f"SELECT u INTO @two FROM folded.swap WHERE id = {second}",
            f"UPDATE folded.swap SET u = NULL WHERE id = {first}",
            f"UPDATE folded.swap SET u = @one WHERE id = {second}",
            f"UPDATE folded.swap SET u = @two WHERE id = {first}",
        )
    session.run(
        "UPDATE folded.swap SET u = u + 100 ORDER BY u DESC",
        "REPLACE INTO folded.swap VALUES (7, 110)",
        "INSERT INTO folded.swap VALUES (8, 120) ON DUPLICATE KEY UPDATE u = u + 1",
    )


def write_foreign_keys(session: Session) -> None:
    """Use every foreign key action."""
    session.run(
        "CREATE DATABASE kin",
        "CREATE TABLE kin.parent (id INT PRIMARY KEY, code VARCHAR(10) CHARACTER SET latin1"
        " COLLATE latin1_swedish_ci NOT NULL, UNIQUE KEY code (code)) ENGINE=InnoDB",
        "CREATE TABLE kin.child (id INT PRIMARY KEY, parent_id INT NULL, CONSTRAINT"
        " child_parent FOREIGN KEY (parent_id) REFERENCES kin.parent (id)"
        " ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB",
        "CREATE TABLE kin.grandchild (id INT PRIMARY KEY, child_id INT NULL, CONSTRAINT"
        " grandchild_child FOREIGN KEY (child_id) REFERENCES kin.child (id)"
        " ON DELETE SET NULL ON UPDATE CASCADE) ENGINE=InnoDB",
        "CREATE TABLE kin.tagged (id INT PRIMARY KEY, code VARCHAR(10) CHARACTER SET latin1 COLLATE"
        " latin1_swedish_ci, CONSTRAINT tagged_parent FOREIGN KEY (code) REFERENCES"
        " kin.parent (code) ON DELETE RESTRICT ON UPDATE CASCADE) ENGINE=InnoDB",
        "CREATE TABLE kin.tree (id INT PRIMARY KEY, up INT NULL, CONSTRAINT tree_tree FOREIGN KEY"
        " (up) REFERENCES kin.tree (id) ON DELETE CASCADE) ENGINE=InnoDB",
        "INSERT INTO kin.parent VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four')",
        "INSERT INTO kin.child VALUES (11, 1), (12, 1), (21, 2), (31, 3), (90, NULL)",
        "INSERT INTO kin.grandchild VALUES (111, 11), (112, 11), (211, 21)",
        "INSERT INTO kin.tagged VALUES (1, 'ONE'), (2, 'Two'), (3, NULL)",
        "INSERT INTO kin.tree VALUES (1, NULL), (2, 1), (3, 2), (4, 1)",
    )
    session.run(
        "UPDATE kin.parent SET id = 10 WHERE id = 1",
        "UPDATE kin.parent SET code = 'uno' WHERE id = 10",
        "DELETE FROM kin.child WHERE id = 11",
        "INSERT INTO kin.child VALUES (41, 4)",
        "UPDATE kin.child SET parent_id = 4 WHERE id = 31",
        "DELETE FROM kin.parent WHERE id = 3",
        "DELETE FROM kin.parent WHERE id = 4",
        "DELETE FROM kin.tree WHERE id = 2",
    )
    session.transaction(
        "INSERT INTO kin.parent VALUES (5, 'five')",
        "INSERT INTO kin.child VALUES (51, 5)",
        "DELETE FROM kin.parent WHERE id = 5",
    )
    session.run(
        "SET SESSION foreign_key_checks = 0",
        "INSERT INTO kin.child VALUES (99, 999)",
        "SET SESSION foreign_key_checks = 1",
    )
