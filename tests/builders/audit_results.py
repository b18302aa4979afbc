"""Audit results built by hand, one per situation that a report must show well."""

from __future__ import annotations

import math
from dataclasses import replace

from paraply.vocabulary.audit_result import (
    AuditResult,
    Blocker,
    FileSummary,
    LintFinding,
    Parallelism,
    PathLink,
    Reason,
    ReplayFinding,
    ReplayResult,
    SafetyViolation,
    TableSummary,
    TransactionRef,
)
from paraply.vocabulary.verdict import Verdict

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
WORKERS = (1, 2, 4, 8, 16, 32)


def transaction(ordinal, file="binlog.000007", last_committed=None, gtid=None):
    return TransactionRef(
        ordinal=ordinal,
        gtid=f"{UUID}:{ordinal}" if gtid is None else gtid,
        file=file,
        offset=197 + 312 * ordinal,
        last_committed=max(0, ordinal - 3) if last_committed is None else last_committed,
        sequence_number=ordinal,
    )


def parallelism(model, ideal, knee, *, work=9_000, safe=Verdict.HOLDS, apart=0, transactions=2_400):
    """A speed-up curve that bends towards ``ideal`` as list scheduling makes it bend."""
    return Parallelism(
        model=model,
        safe=safe,
        conflicting_pairs_apart=apart,
        work=work,
        critical_path=max(1, round(work / ideal)),
        transactions_on_path=round(transactions / ideal),
        steps=round(transactions / ideal),
        width_max=round(ideal * 3.2),
        width_mean=round(ideal, 2),
        ideal_speedup=round(ideal, 2),
        speedup={n: round(1 / (1 / n + (1 - 1 / n) / ideal), 2) for n in WORKERS},
        knee=knee,
    )


def empty_result():
    """A readable file with no transaction in it."""
    return AuditResult(
        verdict=Verdict.UNKNOWN,
        unknown_because=[
            Reason(
                property="conflicting_transactions_are_ordered",
                reason="the log holds no transaction",
                remedy="audit a binary log that was written under load",
            )
        ],
        files=[
            FileSummary(
                name="binlog.000001",
                server="8.4.3",
                format="mysql",
                checksum="CRC32",
                bytes_read=157,
                events={"FORMAT_DESCRIPTION_EVENT": 1, "PREVIOUS_GTIDS_EVENT": 1},
            )
        ],
    )


def single_transaction_result():
    """One transaction: nothing can overlap, so nothing was shown."""
    only = transaction(1, last_committed=0)
    return AuditResult(
        verdict=Verdict.UNKNOWN,
        unknown_because=[
            Reason(
                property="conflicting_transactions_are_ordered",
                reason="the log holds one transaction; no two could overlap",
                remedy="audit a binary log that was written under load",
            )
        ],
        files=[
            FileSummary(
                name="binlog.000001",
                server="8.4.3",
                format="mysql",
                checksum="CRC32",
                bytes_read=612,
                transactions=1,
                first_gtid=only.gtid,
                last_gtid=only.gtid,
            )
        ],
        transactions=1,
        row_changes=1,
        kinds={"rows": 1},
        tables=[
            TableSummary(
                name="shop.orders",
                inserts=1,
                updates=0,
                deletes=0,
                keys=("PRIMARY(id)",),
                keys_known=True,
                sources=("table-map metadata",),
            )
        ],
        commit_group_sizes={1: 1},
        replay=ReplayResult(final_rows=1, tables={"shop.orders": 1}),
        parallelism=[
            replace(
                parallelism("logical-clock", 1.0, 1, work=2, transactions=1),
                width_max=1,
                speedup=dict.fromkeys(WORKERS, 1.0),
            )
        ],
        clock_distance={1: 1},
        width_over_time=[(1, 1.0)],
        critical_path=[PathLink(transaction=only, waits_for=0, because="", work=2)],
    )


def holding_result():
    """A busy MySQL log of two files whose metadata is safe and fully explained."""
    files = [
        FileSummary(
            name=f"binlog.00000{number}",
            server="8.4.3",
            format="mysql",
            checksum="CRC32",
            bytes_read=734_003 + number,
            transactions=1_200,
            first_gtid=f"{UUID}:{1 + 1_200 * (number - 7)}",
            last_gtid=f"{UUID}:{1_200 * (number - 6)}",
            events={"GTID_LOG_EVENT": 1_200, "WRITE_ROWS_EVENT": 2_100, "XID_EVENT": 1_198},
        )
        for number in (7, 8)
    ]
    width = [
        (1 + 24 * slot, round(9 + 5 * math.sin(slot / 7) + 3 * math.sin(slot / 2.3), 2))
        for slot in range(100)
    ]
    path = [
        PathLink(
            transaction=transaction(ordinal),
            waits_for=ordinal - 40 if ordinal > 1 else 0,
            because=""
            if ordinal == 1
            else (
                "ALTER TABLE shop.orders runs alone"
                if ordinal % 400 == 1
                else "shop.counters.PRIMARY(1)"
            ),
            work=2 + ordinal % 5,
        )
        for ordinal in range(1, 2_400, 40)
    ]
    return AuditResult(
        verdict=Verdict.HOLDS,
        files=files,
        transactions=2_400,
        row_changes=6_600,
        kinds={"rows": 2_390, "ddl": 6, "empty": 4},
        tables=[
            TableSummary(
                name="shop.orders",
                inserts=2_100,
                updates=900,
                deletes=120,
                keys=("PRIMARY(id)", "uk_number(number)"),
                keys_known=True,
                sources=("table-map metadata", "--schema"),
            ),
            TableSummary(
                name="shop.counters",
                inserts=4,
                updates=3_476,
                deletes=0,
                keys=("PRIMARY(id)",),
                keys_known=True,
                sources=("table-map metadata",),
            ),
        ],
        commit_group_sizes={1: 640, 2: 310, 3: 140, 4: 96, 6: 40, 9: 12, 17: 3},
        pairs_allowed_to_overlap=18_224,
        conflicting_pairs_ordered=3_512,
        replay=ReplayResult(
            before_images_found=3_900,
            before_images_unknown=596,
            final_rows=1_984,
            tables={"shop.orders": 1_980, "shop.counters": 4},
        ),
        parallelism=[
            parallelism("logical-clock", 3.1, 4),
            parallelism("row-conflicts", 9.4, 16),
            parallelism("by-table", 1.9, 2),
            parallelism("by-schema", 1.0, 1),
            parallelism("by-primary-key", 6.2, 8, safe=Verdict.VIOLATED, apart=41),
        ],
        clock_distance={1: 410, 2: 390, 4: 620, 8: 700, 16: 240, 32: 40},
        width_over_time=width,
        blockers=[
            Blocker(kind="key", name="shop.counters.PRIMARY(1)", transactions=51, share=0.85),
            Blocker(kind="ddl", name="ALTER TABLE shop.orders", transactions=6, share=0.1),
        ],
        critical_path=path,
        assumptions=[
            "shop.orders: the collation of 'number' was taken from --schema.",
            "Triggers and events that do not write to the log are not seen.",
        ],
    )


def violated_result():
    """A log in which two pairs of conflicting transactions may overlap."""
    result = holding_result()
    result.verdict = Verdict.VIOLATED
    result.violations = [
        SafetyViolation(
            property="conflicting_transactions_are_ordered",
            applier="logical-clock",
            earlier=transaction(411, last_committed=408),
            later=transaction(412, last_committed=408),
            table="shop.orders",
            index="uk_number",
            key="uk_number('A-1007')",
            consequence="The replica may insert 'A-1007' before the row that holds it is "
            "deleted, and stop with a duplicate key.",
        ),
        SafetyViolation(
            property="conflicting_transactions_are_ordered",
            applier="logical-clock",
            earlier=transaction(1_203, file="binlog.000008", last_committed=1_200),
            later=transaction(1_205, file="binlog.000008", last_committed=1_201),
            table="shop.counters",
            index="PRIMARY",
            key="PRIMARY(1)",
            consequence="The replica may apply the two updates of the row in either order and "
            "keep the older value.",
        ),
    ]
    result.lint = [
        LintFinding(
            rule="last_committed_is_before_sequence_number",
            severity="violation",
            message="last_committed=412 is not below sequence_number=412",
            file="binlog.000007",
            offset=128_741,
            transactions=(transaction(412, last_committed=412),),
        ),
        LintFinding(
            rule="sequence_numbers_are_dense",
            severity="warning",
            message="sequence_number jumps from 517 to 520",
            file="binlog.000007",
            offset=161_501,
            transactions=(transaction(517), transaction(520)),
        ),
        LintFinding(
            rule="sequence_number_restarts",
            severity="note",
            message="sequence_number restarts at 1 with the file, as it must",
            file="binlog.000008",
            offset=197,
        ),
    ]
    result.replay = ReplayResult(
        before_images_found=3_899,
        before_images_missing=1,
        before_images_unknown=596,
        duplicate_keys=1,
        final_rows=1_984,
        findings=[
            ReplayFinding(
                property="inserted_keys_are_free",
                transaction=transaction(412, last_committed=408),
                table="shop.orders",
                key="uk_number('A-1007')",
                offset=128_821,
                message="the key is held by row PRIMARY(88) since transaction 37",
            )
        ],
        tables={"shop.orders": 1_980, "shop.counters": 4},
    )
    result.parallelism[0] = replace(
        result.parallelism[0], safe=Verdict.VIOLATED, conflicting_pairs_apart=2
    )
    return result


def truncated_result():
    """A log that ends in the middle of an event and has a table whose keys are unknown."""
    result = holding_result()
    result.verdict = Verdict.UNKNOWN
    result.files[
        1
    ].stopped = "P112 binlog.000008:734003: the event says it is 8,204 bytes long, 512 are left"
    result.unknown_because = [
        Reason(
            property="file_is_read_to_its_end",
            subject="binlog.000008",
            reason="reading stopped at byte 734,003: the event is cut off",
            remedy="copy the file again after FLUSH BINARY LOGS",
        ),
        Reason(
            property="conflicting_transactions_are_ordered",
            subject="shop.audit_trail",
            reason="no key of shop.audit_trail is known",
            remedy="set binlog_row_metadata=FULL, or pass --schema with mysqldump --no-data",
        ),
    ]
    result.tables.append(
        TableSummary(
            name="shop.audit_trail",
            inserts=310,
            updates=0,
            deletes=0,
            keys=(),
            keys_known=False,
            sources=(),
        )
    )
    return result


def mariadb_result():
    """A MariaDB log: commit ids instead of a logical clock, one domain."""
    result = holding_result()
    for number, file in enumerate(result.files, start=1):
        file.name, file.format, file.server = f"mariadb-bin.00000{number}", "mariadb", "10.11.6"
        file.first_gtid, file.last_gtid = f"0-1-{number * 1_200 - 1_199}", f"0-1-{number * 1_200}"
    result.parallelism[0] = parallelism("commit-group", 2.4, 4)
    result.clock_distance = {}
    result.critical_path = [
        replace(
            link,
            transaction=TransactionRef(
                ordinal=link.transaction.ordinal,
                gtid=f"0-1-{link.transaction.ordinal}",
                file="mariadb-bin.000001",
                offset=link.transaction.offset,
                commit_id=link.transaction.ordinal // 4,
            ),
        )
        for link in result.critical_path
    ]
    return result
