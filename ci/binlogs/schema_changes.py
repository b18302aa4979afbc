"""Barrier scenarios: DDL, statement format, XA, engines."""

from __future__ import annotations

import random
import time

from ci.binlogs.session import ClientConnection, Session


def write_schema_changes(session: Session) -> None:
    """Change tables between and beside their users."""
    session.run(
        "CREATE DATABASE moving DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "CREATE TABLE moving.t (id INT PRIMARY KEY, a VARCHAR(20)) ENGINE=InnoDB",
        "CREATE TABLE moving.nokey (a INT, b VARCHAR(20)) ENGINE=InnoDB",
        "CREATE TABLE moving.copy LIKE moving.t",
        "CREATE TABLE moving.made ENGINE=InnoDB AS SELECT 1 AS one, 'x' AS x",
    )

    def client(random_choice: random.Random, connection: ClientConnection) -> None:
        number = random_choice.randint(1, 60)
        connection.run(
            "INSERT INTO moving.t (id, a) VALUES (%s, 'word') ON DUPLICATE KEY UPDATE a = %s",
            number,
            f"w{random_choice.randint(1, 9)}",
        )
        connection.run("INSERT INTO moving.nokey VALUES (%s, 'twin'), (%s, 'twin')", number, number)
        time.sleep(0.01)

    def change_schema() -> None:
        for statement in (
            "ALTER TABLE moving.t ADD COLUMN n INT NULL AFTER id",
            "ALTER TABLE moving.t ADD UNIQUE KEY n (n)",
            "CREATE UNIQUE INDEX a_n ON moving.t (a(5), n)",
            "ALTER TABLE moving.t MODIFY a VARCHAR(300) CHARACTER SET latin1",
            "ALTER TABLE moving.t DROP INDEX n, ADD COLUMN j JSON",
            "DROP INDEX a_n ON moving.t",
        ):
            time.sleep(0.03)
            session.run(statement)

    session.load(client, clients=4, transactions=20, meanwhile=change_schema)
    session.run(
        "INSERT INTO moving.copy VALUES (1, 'a'), (2, 'b')",
        "RENAME TABLE moving.copy TO moving.renamed",
        "UPDATE moving.renamed SET a = 'c' WHERE id = 1",
        "TRUNCATE TABLE moving.made",
        "INSERT INTO moving.made VALUES (2, 'y')",
        "ALTER TABLE moving.renamed CHANGE a b VARCHAR(30), ADD PRIMARY KEY (id, b),"
        " DROP PRIMARY KEY",
        "DELETE FROM moving.nokey WHERE a < 20",
        "DELETE FROM moving.nokey LIMIT 3",
        "CREATE TABLE moving.gone (id INT PRIMARY KEY)",
        "INSERT INTO moving.gone VALUES (1)",
        "DROP TABLE moving.gone",
        "CREATE VIEW moving.seen AS SELECT id FROM moving.t",
        "DROP VIEW moving.seen",
        "CREATE USER watcher@localhost",
        "GRANT SELECT ON moving.* TO watcher@localhost",
        "ANALYZE TABLE moving.t",
    )


def write_engines_and_savepoints(session: Session) -> None:
    """Mix engines, savepoints and a large transaction."""
    aria = "Aria" if session.is_mariadb else "MyISAM"
    session.run(
        "CREATE DATABASE mixed",
        "CREATE TABLE mixed.safe (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB",
        f"CREATE TABLE mixed.unsafe (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE={aria}",
        "INSERT INTO mixed.unsafe VALUES (1, 'no transaction')",
        "UPDATE mixed.unsafe SET v = 'in place' WHERE id = 1",
    )
    session.transaction(
        "INSERT INTO mixed.safe VALUES (1, 'kept')",
        "SAVEPOINT here",
        "INSERT INTO mixed.safe VALUES (2, 'undone')",
        "ROLLBACK TO SAVEPOINT here",
        "INSERT INTO mixed.safe VALUES (3, 'kept too')",
        "RELEASE SAVEPOINT here",
    )
    session.transaction(
        "SAVEPOINT first",
        "INSERT INTO mixed.safe VALUES (4, 'x')",
        "INSERT INTO mixed.unsafe VALUES (4, 'stays')",
        "ROLLBACK TO SAVEPOINT first",
        "INSERT INTO mixed.safe VALUES (5, 'y')",
    )
    session.run(
        "BEGIN",
        "INSERT INTO mixed.safe VALUES (6, 'rolled back')",
        "INSERT INTO mixed.unsafe VALUES (6, 'stays')",
        "ROLLBACK",
    )
    rows = ", ".join(f"({number}, REPEAT('v', {number % 180}))" for number in range(1000, 1500))
    session.transaction(
        f"INSERT INTO mixed.safe VALUES {rows}",
        "UPDATE mixed.safe SET v = CONCAT(LEFT(v, 20), 'u') WHERE id BETWEEN 1200 AND 1300",
        "DELETE FROM mixed.safe WHERE id > 1400",
    )


def write_distributed(session: Session) -> None:
    """Interleave XA transactions with others."""
    session.run(
        "CREATE DATABASE apart",
        "CREATE TABLE apart.t (id INT PRIMARY KEY, v INT, UNIQUE KEY v (v)) ENGINE=InnoDB",
        "INSERT INTO apart.t VALUES (1, 1), (2, 2)",
        "XA START 'one'",
        "UPDATE apart.t SET v = 11 WHERE id = 1",
        "XA END 'one'",
        "XA PREPARE 'one'",
        "XA COMMIT 'one'",
        "XA START 'gtrid','bqual',7",
        "INSERT INTO apart.t VALUES (3, 3)",
        "XA END 'gtrid','bqual',7",
        "XA COMMIT 'gtrid','bqual',7 ONE PHASE",
        "XA START X'00FF27',X'5C'",
        "DELETE FROM apart.t WHERE id = 2",
        "XA END X'00FF27',X'5C'",
        "XA PREPARE X'00FF27',X'5C'",
        "XA ROLLBACK X'00FF27',X'5C'",
    )
    session.run("XA START 'late'", "INSERT INTO apart.t VALUES (9, 9)", "XA END 'late'",
                "XA PREPARE 'late'")  # fmt: skip
    session.run("INSERT INTO apart.t VALUES (10, 10)", "XA COMMIT 'late'",
                "INSERT INTO apart.t VALUES (12, 12)")  # fmt: skip


def write_statements(session: Session) -> None:
    """Log statements, also mixed with rows."""
    session.run(
        "CREATE DATABASE said",
        "CREATE TABLE said.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(60), r DOUBLE)"
        " ENGINE=InnoDB",
        "SET SESSION binlog_format = 'STATEMENT'",
        "INSERT INTO said.t (v, r) VALUES ('first', RAND(7))",
        "SET @word = 'user variable', @number = -12.5, @none = NULL",
        "INSERT INTO said.t (v, r) VALUES (@word, @number), (@none, LAST_INSERT_ID())",
        "UPDATE said.t SET v = CONCAT(v, 'ß') WHERE id = 1",
        "SET SESSION binlog_format = 'MIXED'",
        "INSERT INTO said.t (v) VALUES ('safe statement')",
        "INSERT INTO said.t (v) VALUES (UUID())",
        "DELETE FROM said.t WHERE id = 2",
        "SET SESSION binlog_format = 'ROW'",
        "INSERT INTO said.t (v) VALUES ('row')",
        database="mysql",
    )
    session.run(
        "SET SESSION binlog_format = 'STATEMENT'",
        "BEGIN",
        "INSERT INTO t (v) VALUES ('inside said')",
        "UPDATE t SET r = 1 WHERE id = 1",
        "COMMIT",
        database="said",
    )


def write_domains(session: Session) -> None:
    """Write in three MariaDB domains, also concurrently."""
    session.run(
        "CREATE DATABASE wide",
        "CREATE TABLE wide.t (domain INT, id INT, v INT, PRIMARY KEY (domain, id)) ENGINE=InnoDB",
    )

    def client(random_choice: random.Random, connection: ClientConnection) -> None:
        domain = random_choice.choice((0, 1, 7))
        connection.run(f"SET SESSION gtid_domain_id = {domain}")
        connection.run(
            "INSERT INTO wide.t VALUES (%s, %s, 1) ON DUPLICATE KEY UPDATE v = v + 1",
            domain,
            random_choice.randint(1, 12),
        )

    session.load(client, clients=6, transactions=12)
    session.run(
        "SET SESSION skip_parallel_replication = 1",
        "INSERT INTO wide.t VALUES (0, 100, 1)",
        "SET SESSION skip_parallel_replication = 0, server_id = 77",
        "INSERT INTO wide.t VALUES (0, 101, 1)",
    )


def write_tags(session: Session) -> None:
    """Commit tagged GTIDs and an empty transaction."""
    other = "00000000-1111-2222-3333-444444444444"
    session.run(
        "CREATE DATABASE tagged",
        "CREATE TABLE tagged.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
        "SET SESSION gtid_next = 'AUTOMATIC:payroll'",
        "INSERT INTO tagged.t VALUES (1, 1)",
        "INSERT INTO tagged.t VALUES (2, 1)",
        "SET SESSION gtid_next = 'AUTOMATIC:a'",
        "UPDATE tagged.t SET v = 2",
        "SET SESSION gtid_next = 'AUTOMATIC'",
        "INSERT INTO tagged.t VALUES (3, 1)",
        f"SET SESSION gtid_next = '{other}:a_tag_of_32_characters_abcdefghi:7'",
        "INSERT INTO tagged.t VALUES (4, 1)",
        f"SET SESSION gtid_next = '{other}:9223372036854775000'",
        "BEGIN",
        "COMMIT",
        "SET SESSION gtid_next = 'AUTOMATIC'",
        "DELETE FROM tagged.t WHERE id = 1",
    )
