"""The common load: a shop."""

from __future__ import annotations

import random

from ci.binlogs.session import ClientConnection, Session

ACCOUNTS = 40
"""For conflicts among eight clients, but not always."""

_REGIONS = ("Ådal", "straße", "STRASSE", "Strasse ", "zürich", "Zurich", "東京", "Ελλάδα", "ελλαδα")


def create(session: Session, *, rows: int = ACCOUNTS) -> None:
    """Create schema ``shop`` and its accounts."""
    accent_folding = "utf8mb4_uca1400_ai_ci" if session.is_mariadb else "utf8mb4_0900_ai_ci"
    session.run(
        "CREATE DATABASE shop CHARACTER SET utf8mb4",
        "CREATE TABLE shop.account (id INT UNSIGNED NOT NULL PRIMARY KEY, email VARCHAR(60)"
        f" CHARACTER SET utf8mb4 COLLATE {accent_folding} NULL, slot INT NULL,"
        " balance DECIMAL(12,2) NOT NULL DEFAULT 0, UNIQUE KEY email (email),"
        " UNIQUE KEY slot (slot)) ENGINE=InnoDB",
        "CREATE TABLE shop.purchase (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,"
        " account_id INT UNSIGNED NOT NULL, amount DECIMAL(9,2) NOT NULL, note VARCHAR(80),"
        " KEY account (account_id), CONSTRAINT purchase_account FOREIGN KEY (account_id)"
        " REFERENCES shop.account (id) ON DELETE CASCADE) ENGINE=InnoDB",
        "CREATE TABLE shop.stock (region VARCHAR(20) CHARACTER SET latin1 COLLATE"
        " latin1_swedish_ci NOT NULL, item INT NOT NULL, pieces INT NOT NULL,"
        " PRIMARY KEY (region, item)) ENGINE=InnoDB",
        "CREATE TABLE shop.journal (at INT NOT NULL, note VARCHAR(60)) ENGINE=InnoDB",
    )
    values = ", ".join(f"({n}, 'user{n}@example.org', {n}, 100)" for n in range(1, rows + 1))
    session.run(f"INSERT INTO shop.account VALUES {values}")


def client(random_choice: random.Random, connection: ClientConnection) -> None:
    """Run one transaction of the shop's mix."""
    account, other = random_choice.sample(range(1, ACCOUNTS + 1), 2)
    match random_choice.choices(
        ("pay", "buy", "swap", "rename", "leave", "stock", "note", "sweep"),
        (30, 20, 6, 12, 4, 16, 8, 4),
    )[0]:
        case "pay":
            change = "UPDATE shop.account SET balance = balance + %s WHERE id = %s"
            amount = random_choice.randint(1, 500) / 100
            connection.run(change, -amount, min(account, other))
            connection.run(change, amount, max(account, other))
        case "buy":
            connection.run(
                "INSERT INTO shop.purchase (account_id, amount, note) VALUES (%s, %s, %s)",
                account,
                random_choice.randint(1, 9999) / 100,
                random_choice.choice(_REGIONS) * random_choice.randint(1, 3),
            )
        case "swap":  # Two unique values change owner inside one transaction.
            move = "UPDATE shop.account SET slot = %s WHERE id = %s"
            rows = connection.run(
                "SELECT id, slot FROM shop.account WHERE id IN (%s, %s) ORDER BY id FOR UPDATE",
                account,
                other,
            )
            if len(rows) == 2:
                connection.run(move, None, rows[0][0])
                connection.run(move, rows[0][1], rows[1][0])
                connection.run(move, rows[1][1], rows[0][0])
        case "rename":
            name = random_choice.choice(_REGIONS).strip()
            connection.run(
                "UPDATE shop.account SET email = %s WHERE id = %s",
                random_choice.choice((None, f"{name}@example.org", f"user{other}@EXAMPLE.org")),
                account,
            )
        case "leave":  # The cascade is the engine's; then the unique values are free again.
            connection.run("DELETE FROM shop.account WHERE id = %s", account)
            if random_choice.random() < 0.7:
                connection.run(
                    "INSERT INTO shop.account VALUES (%s, %s, %s, 0)",
                    account,
                    f"user{account}@example.org",
                    account,
                )
        case "stock":
            connection.run(
                "INSERT INTO shop.stock VALUES (%s, %s, %s)"
                " ON DUPLICATE KEY UPDATE pieces = pieces + 1",
                random_choice.choice(("Ost", "OST", "öst", "Süd", "sud", "West", "Nord")),
                random_choice.randint(1, 6),
                random_choice.randint(1, 100),
            )
        case "note":
            connection.run(
                "INSERT INTO shop.journal VALUES (%s, %s), (%s, %s)",
                random_choice.randint(1, 9),
                "same row twice",
                random_choice.randint(1, 9),
                random_choice.choice(_REGIONS),
            )
        case _:
            connection.run("DELETE FROM shop.journal WHERE at = %s", random_choice.randint(1, 9))
