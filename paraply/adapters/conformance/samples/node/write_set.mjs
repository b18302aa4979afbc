#!/usr/bin/env node
// A sample applier: one thread, scheduled by the keys that a transaction wrote.
//
// Nothing but Node. Start it as `node write_set.mjs`; it speaks JSON lines on standard input and
// output. Replace the requests to the harness by calls to a database, and it applies a real log.
//
// The rule: a transaction begins once no transaction under way shares a key with it, or writes a
// key that it reads (a parent's), or reads one that it writes. Without keys it runs alone, and so
// does one that may cascade.
import { createInterface } from "node:readline";

const RETRY_ON = new Set([1205, 1213]); // lock wait time-out, deadlock
const RETRIES_MAX = 20;
const FEATURES = ["writeset", "ddl", "commit_order", "retry", "crash", "position", "sync", "reset"];

const tell = (message) => process.stdout.write(JSON.stringify(message) + "\n");

class Applier {
  constructor(init) {
    this.commitOrder = init.options.commit_order;
    this.executed = new Set(init.resume ? init.resume.executed : []);
    this.received = init.resume ? init.resume.upto : 0;
    this.workers = Array.from({ length: init.workers }, (_, i) => ({ number: i + 1 }));
    this.waiting = []; // received, not begun, in the order of the log
    this.order = []; // ids not committed, in the order of the log
    this.nextId = 1;
    this.failed = false;
    this.finishing = null;
    this.learn(init.schema);
  }

  // Tables whose deletes and updates change rows of others, which the log does not show.
  learn(schema) {
    this.cascading = new Set();
    for (const table of schema) {
      for (const key of table.foreign_keys) {
        const actions = [key.on_delete, key.on_update];
        if (actions.some((one) => one === "CASCADE" || one === "SET NULL")) {
          this.cascading.add(key.parent);
        }
      }
    }
  }

  on_txn(txn) {
    this.received = txn.id;
    txn.cascades = txn.rows.some((row) => row.op !== "I" && this.cascading.has(row.table));
    if (txn.schema) this.learn(txn.schema);
    if (this.executed.has(txn.id)) {
      tell({ type: "skip", txn: txn.id });
      return;
    }
    this.waiting.push(txn);
    this.order.push(txn.id);
  }

  on_rotate() {} // Keys do not care for files.

  on_drain(message) {
    this.finishing = message;
  }

  on_end(message) {
    this.finishing = message;
  }

  on_ok(message) {
    const worker = this.workers.find((one) => one.awaits === message.in_reply_to);
    if (!worker) return;
    worker.awaits = 0;
    if (message.type === "error" || message.affected === 0) this.refused(worker, message);
    else if (worker.steps.length === 0) this.committed(worker);
  }

  on_error(message) {
    this.on_ok(message);
  }

  // Everything that can be done without another message from the harness.
  move() {
    let moved = true;
    while (moved && !this.failed) {
      moved = this.dispatch();
      for (const worker of this.workers) moved = this.step(worker) || moved;
    }
    if (this.finishing && this.order.length === 0 && !this.failed) {
      tell({ type: `${this.finishing.type}_ok`, in_reply_to: this.finishing.msg_id });
      this.finishing = null;
    }
  }

  dispatch() {
    const txn = this.waiting[0];
    const free = this.workers.find((worker) => !worker.txn);
    if (!txn || !free) return false;
    if (this.workers.some((worker) => worker.txn && conflict(worker.txn, txn))) return false;
    free.txn = this.waiting.shift();
    free.tries = 0;
    free.steps = plan(txn);
    return true;
  }

  step(worker) {
    if (!worker.txn || worker.awaits) return false;
    const isTurn = !this.commitOrder || this.order[0] === worker.txn.id;
    if (worker.steps[0].type === "commit" && !isTurn) return false;
    worker.awaits = this.nextId++;
    const step = worker.steps.shift();
    tell({ ...step, msg_id: worker.awaits, worker: worker.number, txn: worker.txn.id });
    return true;
  }

  refused(worker, answer) {
    worker.tries += 1;
    if (RETRY_ON.has(answer.errno) && worker.tries <= RETRIES_MAX) {
      worker.steps = plan(worker.txn);
      return;
    }
    this.failed = true;
    tell({ type: "fail", txn: worker.txn.id, reason: answer.message ?? "the row is not there" });
  }

  committed(worker) {
    this.order.splice(this.order.indexOf(worker.txn.id), 1);
    worker.txn = null;
    tell({ type: "checkpoint", upto: this.order.length ? this.order[0] - 1 : this.received });
  }
}

function plan(txn) {
  const changes = txn.rows.map((_, i) => ({ type: "row", i }));
  const body = txn.kind === "ddl" ? [{ type: "execute" }] : changes;
  return [{ type: "begin" }, ...body, { type: "commit" }];
}

function conflict(earlier, later) {
  const isAlone = (txn) => txn.kind === "ddl" || txn.keys.length === 0 || txn.cascades;
  if (isAlone(earlier) || isAlone(later)) return true;
  const meet = (some, others) => some.some((key) => others.includes(key));
  return (
    meet(earlier.keys, later.keys) ||
    meet(earlier.keys, later.reads) ||
    meet(earlier.reads, later.keys)
  );
}

let applier = null;
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "init") {
    applier = new Applier(message);
    tell({ type: "init_ok", in_reply_to: message.msg_id, name: "write_set", features: FEATURES });
  } else if (message.type === "sync") {
    tell({ type: "sync_ok", in_reply_to: message.msg_id });
  } else {
    applier[`on_${message.type}`](message);
    applier.move();
  }
});
