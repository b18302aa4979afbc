"""Metrics, webhook and the explanation of lag."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import urlopen

import pytest

from paraply.adapters.binlog.live_events import SentEvents, SentTransaction
from paraply.reporting.verify.watch import watch_metrics, watch_summary
from paraply.verifying.watch.findings import Finding, FindingsFile
from paraply.verifying.watch.holding import Worker, behind_it, held_by
from paraply.verifying.watch.pair import NEXT_MAX
from paraply.verifying.watch.service import Watch
from paraply.verifying.watch.telling import MetricsServer, Webhook
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_names import GtidNames
from tests.verifying.watch.runs import judged, request_of, run_until
from tests.verifying.watch.sent_logs import SentLog
from tests.verifying.watch.test_real_logs import BINLOGS, REPLICAS, streams


def test_metrics_and_summary_count_the_findings(tmp_path):
    source, target = streams(REPLICAS[0], "lost", tmp_path)
    watch = run_until(Watch(request_of(source, target, tmp_path)), judged(target))
    text = watch_metrics(watch.snapshots())
    server = MetricsServer("127.0.0.1", 0, lambda: text)
    try:
        with urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        with pytest.raises(ParaplyError, match="P379"):
            MetricsServer("127.0.0.1", server.port, lambda: text)
    finally:
        server.close()
    assert 'paraply_watch_findings_total{target="replica",kind="missing"} 1' in lines
    assert 'paraply_watch_verdict{target="replica"} 1' in lines
    summary = watch_summary(watch.snapshots(), {}, watch.verdict)
    assert "missing      1 " in summary
    assert summary.endswith("verdict: violated\n")


@pytest.mark.long
def test_webhook_gets_each_finding_and_tries_again():
    got, refusals = [], [True]

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(503 if refusals else 200)
            if refusals:
                refusals.pop()
            else:
                got.append(json.loads(body))
            self.end_headers()

        def log_message(self, *_):
            pass

    receiver = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, args=(0.05,), daemon=True).start()
    try:
        hook = Webhook(f"http://127.0.0.1:{receiver.server_address[1]}/")
        hook.send(Finding(target="db2", number=1, kind="missing", text="gone"))
        waiting = threading.Event()
        while not got and not waiting.wait(0.05):
            pass
        hook.close()
    finally:
        receiver.shutdown()
        receiver.server_close()
    assert [(each["target"], each["number"], each["kind"]) for each in got] == [
        ("db2", 1, "missing")
    ]
    assert hook.dropped == 0


def test_lag_is_explained_by_errors_first_and_by_the_oldest_transaction(tmp_path):
    source, target = streams(REPLICAS[0], "cut", tmp_path)
    watch = Watch(request_of(source, target, tmp_path))
    pair = watch.pairs[0]
    run_until(watch, lambda w: judged(target)(w) and pair.snapshot().behind > 3)
    snapshot = pair.snapshot()
    oldest, following = snapshot.oldest, snapshot.next
    turn = Worker(gtid="", state="Waiting for prior transaction to commit", error="")
    text = held_by(oldest, following, [turn, turn])
    assert oldest is not None
    assert oldest.transaction.gtid in text
    assert "row" in text
    assert "2 workers wait for their turn to commit" in text
    failed = Worker(gtid="", state="", error="Duplicate entry '7'")
    assert held_by(oldest, following, [turn, failed]) == "the applier stopped: Duplicate entry '7'"
    assert held_by(None, (), []) == ""


@pytest.mark.parametrize("size", [1, 9, 40])
def test_torn_finding_is_written_again(size, tmp_path):
    path = tmp_path / "findings.jsonl"
    first, second = (
        Finding(target="replica", number=number, kind="missing", text="it never came")
        for number in (1, 2)
    )
    findings = FindingsFile(path, None)
    findings.add(first)
    findings.sync()
    kept = findings.length
    findings.close()
    with path.open("ab") as file:
        file.write(second.as_line().encode()[:size])
    again = FindingsFile(path, kept)
    again.add(second)
    again.close()
    assert path.read_text() == first.as_line() + second.as_line()


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("flavour", ["mariadb-10.11.19", "mysql-9.7.4"])
@pytest.mark.parametrize("load", ["load-full-metadata", "load-minimal-metadata"])
def test_lag_is_explained_by_what_has_to_wait_for_the_oldest(flavour, load):
    is_mariadb = flavour.startswith("mariadb")
    log = SentLog(BINLOGS / flavour / load / "bin.000001", name="db1", is_mariadb=is_mariadb)
    waiting = sent_by(log)
    explained = decided = 0
    for at, oldest in enumerate(waiting[:-1]):
        following = waiting[at + 1 : at + 1 + NEXT_MAX]
        txn = oldest.transaction
        fenced = [
            sent.transaction.commit_id is None or sent.transaction.commit_id != txn.commit_id
            if is_mariadb
            else sent.transaction.last_committed >= txn.sequence_number
            for sent in following
        ]
        # The primary key is the first column, of shop.stock the first two.
        common = [bool(rows_of(oldest) & rows_of(sent)) for sent in following]
        text = behind_it(oldest, following)
        assert f"of the next {len(following)}, {sum(fenced)} may not start before it" in text
        if "none shares a row" in text:
            assert not any(common)
        elif found := re.search(r"(at least )?(\d+) share a row", text):
            # Whole rows stand for unknown keys.
            exact = found[1] is None
            assert int(found[2]) == sum(common) if exact else int(found[2]) <= sum(common)
            decided += exact
        explained += "(first" in text
    assert explained
    assert bool(decided) == (load == "load-full-metadata")


def sent_by(log: SentLog) -> list[SentTransaction]:
    """Return all transactions of a log."""
    feed, found = SentEvents(), []
    for file, event in log.events(GtidNames()):
        if file is not None:
            feed.on_file(file)
            continue
        found += feed.take(event)
        if len(found) == len(log.gtids):
            return found
    raise AssertionError(len(found))


def rows_of(sent: SentTransaction) -> set[tuple]:
    return {
        (row.table, image[: 2 if row.table == "shop.stock" else 1])
        for row in sent.transaction.rows
        for image in (row.before, row.after)
        if image is not None
    }
