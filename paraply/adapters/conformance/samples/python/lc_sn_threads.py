#!/usr/bin/env python3
"""A sample applier: threads, scheduled by last_committed and sequence_number.

Standard library only. Start it as `python3 lc_sn_threads.py`; it speaks JSON lines on standard
input and output. Replace `Database` by calls to a real one, and it applies a real log.

The rule: a transaction begins once every transaction with a sequence_number up to its
last_committed has committed. As numbers may be missing from the log, this asks the transactions
under way, not the numbers: none of them may have a number that small.
"""

import json
import sys
import threading
from collections import deque

RETRIES_MAX = 20
RETRY_ON = (1205, 1213)  # lock wait time-out, deadlock


class StoppedError(Exception):
    """The run is over; the worker ends."""


class Channel:
    """Requests of workers out, answers back to the worker that asked."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers = {}
        self.next_id = 1_000_000
        self.out = sys.stdout

    def tell(self, **message):
        with self.lock:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()

    def ask(self, applier, **message):
        """Send a request and sleep until its answer is there."""
        with self.lock:
            self.next_id += 1
            number = self.next_id
            self.answers[number] = slot = [threading.Event(), None]
        self.tell(msg_id=number, **message)
        applier.idle(+1)
        slot[0].wait()
        if slot[1] is None:
            raise StoppedError
        return slot[1]

    def answer(self, applier, message):
        slot = self.answers.pop(message["in_reply_to"], None)
        if slot is not None:
            applier.idle(-1)
            slot[1] = message
            slot[0].set()

    def hang_up(self):
        for slot in self.answers.values():
            slot[0].set()
        self.answers.clear()


class Applier:
    def __init__(self, channel, init):
        self.channel = channel
        self.workers = init["workers"]
        self.commit_order = init["options"]["commit_order"]
        resume = init["resume"] or {"upto": 0, "executed": []}
        self.executed = set(resume["executed"])
        self.changed = threading.Condition()
        self.waiting = deque()  # received, not yet begun, in the order of the log
        self.running = {}  # id -> sequence_number of transactions under way
        self.order = deque()  # ids in the order of the log, not yet committed
        self.queueing = set()  # ids that wait for their turn to commit
        self.sleeping = 0  # workers that wait for an answer, for work or for their turn
        self.free = 0  # workers that wait for work
        self.stopped = False
        self.failed = False
        self.finishing = None  # `drain` or `end`, until it is answered
        self.boundary = False  # whether sequence numbers start again with what comes next
        for number in range(1, self.workers + 1):
            threading.Thread(target=self.work, args=(number,), daemon=True).start()

    # What the harness says

    def on_txn(self, txn):
        if txn["id"] in self.executed:
            self.channel.tell(type="skip", txn=txn["id"])
            return
        with self.changed:
            txn["fence"] = self.boundary
            self.boundary = False
            self.waiting.append(txn)
            self.order.append(txn["id"])
            self.changed.notify_all()

    def on_rotate(self, _):
        self.boundary = True  # what comes next is not comparable with what is under way

    def on_finish(self, message):
        """Answer `drain` or `end` once everything received has committed."""
        with self.changed:
            self.finishing = message
            self.answer_if_finished()

    on_drain = on_end = on_finish

    def answer_if_finished(self):
        if self.finishing and not self.order and not self.failed:
            kind, number = self.finishing["type"], self.finishing["msg_id"]
            self.finishing = None
            self.channel.tell(type=f"{kind}_ok", in_reply_to=number)

    def sync(self):
        with self.changed:
            self.changed.wait_for(
                lambda: (
                    self.sleeping == self.workers
                    and not (self.free and self.ready())
                    and not (self.order and self.order[0] in self.queueing)
                )
            )

    def idle(self, change):
        with self.changed:
            self.sleeping += change
            self.changed.notify_all()

    # Scheduling

    def ready(self):
        """Return the next transaction if it may begin now; called with the lock held."""
        if not self.waiting or self.failed:
            return None
        txn = self.waiting[0]
        if self.running and txn["fence"]:
            return None
        if any(sn <= txn["lc"] for sn in self.running.values()):
            return None
        return txn

    def take(self):
        with self.changed:
            self.sleeping += 1
            self.free += 1
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.stopped or self.ready())
            if self.stopped:
                raise StoppedError
            self.free -= 1
            self.sleeping -= 1
            txn = self.waiting.popleft()
            self.running[txn["id"]] = txn["sn"]
            self.changed.notify_all()
            return txn

    def work(self, worker):
        try:
            while True:
                self.apply(worker, self.take())
        except StoppedError:
            pass

    # Applying

    def apply(self, worker, txn):
        for _ in range(RETRIES_MAX):
            error = self.attempt(worker, txn)
            if error is None:
                with self.changed:
                    del self.running[txn["id"]]
                    self.order.remove(txn["id"])
                    self.answer_if_finished()
                    self.changed.notify_all()
                return
            if error.get("errno") not in RETRY_ON:
                break
        self.channel.tell(type="fail", txn=txn["id"], reason=error.get("message", "no row"))
        with self.changed:
            self.failed = True
            self.changed.notify_all()

    def attempt(self, worker, txn):
        """Return None when committed, else the answer that says what went wrong."""

        def ask(kind, **more):
            return self.channel.ask(self, type=kind, worker=worker, txn=txn["id"], **more)

        ask("begin")
        steps = [("row", {"i": i}) for i in range(len(txn["rows"]))]
        if txn["kind"] == "ddl":
            steps = [("execute", {})]
        for kind, more in steps:
            answer = ask(kind, **more)
            if answer["type"] == "error" or answer.get("affected") == 0:
                if answer.get("errno") not in RETRY_ON:  # after those it is rolled back already
                    ask("rollback")
                return answer
        if self.commit_order:
            self.wait_for_turn(txn)
        ask("commit")
        return None

    def wait_for_turn(self, txn):
        with self.changed:
            self.sleeping += 1
            self.queueing.add(txn["id"])
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.stopped or self.order[0] == txn["id"])
            if self.stopped:
                raise StoppedError
            self.queueing.remove(txn["id"])
            self.sleeping -= 1

    def stop(self):
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        self.channel.hang_up()


FEATURES = ["lc_sn", "ddl", "commit_order", "retry", "crash", "sync", "reset"]


def main():
    applier = None
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "init":
            if applier is not None:
                applier.stop()
            channel = Channel()
            applier = Applier(channel, message)
            number, name = message["msg_id"], "lc_sn_threads"
            channel.tell(type="init_ok", in_reply_to=number, name=name, features=FEATURES)
        elif kind in ("txn", "rotate", "drain", "end"):
            getattr(applier, f"on_{kind}")(message)
        elif kind in ("ok", "error"):
            channel.answer(applier, message)
        elif kind == "sync":
            applier.sync()
            channel.tell(type="sync_ok", in_reply_to=message["msg_id"])


if __name__ == "__main__":
    main()
