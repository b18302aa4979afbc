"""Recordings become client histories; what cannot be understood names file and line."""

from __future__ import annotations

import json

import pytest

from paraply.adapters.elle.histories import MIXED_WORKLOAD, BankHistory, client_history, with_log
from paraply.adapters.elle.operations import (
    MALFORMED_JSON,
    MALFORMED_OPERATION,
    read_json,
    read_operations,
)
from paraply.properties.isolation.judging import judge
from paraply.vocabulary.client_history import (
    LOG_UNLIKE_HISTORY,
    Access,
    AccessKind,
    DataType,
    Ending,
)
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

APPEND, WRITE, READ = AccessKind.APPEND, AccessKind.WRITE, AccessKind.READ


def edn(text):
    return client_history(read_operations(text, is_json=False, name="h.edn"), name="h.edn")


def from_json(text):
    return client_history(read_operations(text, is_json=True, name="h.json"), name="h.json")


LISTS = """\
; two clients, and a nemesis
{:process 0, :type :invoke, :f :txn, :value [[:append x 1] [:r y nil]], :index 0}
{:process :nemesis, :type :info, :f :kill, :value nil, :index 1}
{:process 1, :type :invoke, :f :txn, :value [[:r x nil]], :index 2}
{:process 0, :type :ok, :f :txn, :value [[:append x 1] [:r y nil]], :index 3}
#jepsen.history.Op{:process 1, :type :ok, :f :txn, :value [[:r x [1]]], :index 4}
{:process 0, :type :invoke, :f :txn, :value [[:append x 2] [:r x nil]], :index 5}
{:process 0, :type :fail, :f :txn, :value [[:append x 2] [:r x nil]], :index 6}
{:process 1, :type :invoke, :f :txn, :value [[:append y 3]], :index 7}
{:process 1, :type :info, :f :txn, :value [[:append y 3]], :index 8}
{:process 7, :type :invoke, :f :txn, :value [[:append y 4]], :index 9}
"""


def test_lists_of_a_recording():
    history = edn(LISTS)
    assert history.data_type is DataType.LIST
    assert [(one.name, one.session, one.ending) for one in history.transactions] == [
        ("T1", "0", Ending.COMMITTED),
        ("T2", "1", Ending.COMMITTED),
        ("T3", "0", Ending.ABORTED),
        ("T4", "1", Ending.INDETERMINATE),
        ("T5", "7", Ending.INDETERMINATE),
    ]
    first, second, third, *_ = history.transactions
    assert first.accesses == (Access(APPEND, "x", 1), Access(READ, "y", ()))
    assert second.accesses == (Access(READ, "x", (1,)),)
    assert third.accesses == (Access(APPEND, "x", 2),)
    assert [one.line for one in history.transactions] == [5, 6, 7, 9, 11]
    assert second.invoked < first.completed
    assert history.has_times


def test_edn_and_json_of_one_history_are_equal():
    operations = [
        {"process": 0, "type": "invoke", "f": "txn", "value": [["w", "x", 1], ["r", "y", None]]},
        {"process": 0, "type": "ok", "f": "txn", "value": [["w", "x", 1], ["r", "y", None]]},
    ]
    text = """
    {:process 0 :type :invoke :f :txn :value [[:w "x" 1] [:r "y" nil]]}
    {:process 0 :type :ok :f :txn :value [[:w "x" 1] [:r "y" nil]]}"""
    lines = "\n" + "\n".join(map(json.dumps, operations))
    array = "\n[" + ",\n".join(map(json.dumps, operations)) + "]\n"
    assert edn(text) == from_json(lines) == from_json(array)
    colons = lines.replace('"txn"', '":txn"').replace('"w"', '":w"').replace('"ok"', '":ok"')
    assert from_json(colons) == edn(text)


def test_completions_alone_have_no_times():
    history = edn(
        "{:process 0 :type :ok :value [[:w x 1]]}{:process 0 :type :ok :value [[:r x 1]]}"
    )
    assert not history.has_times
    assert judge(history).finding("cycle-realtime").reason == (
        "the history does not say what was over before what began"
    )


def test_long_fork_of_reads_alone_supplies_the_writes():
    history = edn(
        """[{:type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]}
            {:type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]}
            {:type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]}
            {:type :ok, :f :read, :value [[:r 0 nil] [:r 1 1]]}]"""
    )
    (breach,) = judge(history).finding("G-nonadjacent").breaches
    assert "T1 read 0=1 of the unrecorded write of 0" in str(breach)
    assert judge(history).level("snapshot-isolation").verdict is Verdict.VIOLATED


def test_long_fork_with_its_writes_supplies_none():
    history = edn(
        """{:process 0 :type :invoke, :f :write, :value [[:w 0 1]]}
           {:process 0 :type :ok, :f :write, :value [[:w 0 1]]}
           {:process 1 :type :invoke, :f :read, :value [[:r 0 nil]]}
           {:process 1 :type :ok, :f :read, :value [[:r 0 1]]}"""
    )
    assert len(history.transactions) == 2


def test_bank_has_reads_and_transfers():
    history = edn(
        """{:process 0 :type :invoke :f :read :value nil}
           {:process 0 :type :ok :f :read :value {0 10, 1 nil}}
           {:process 0 :type :invoke :f :transfer :value {:from 0 :to 1 :amount 3}}
           {:process 0 :type :ok :f :transfer :value {:from 0 :to 1 :amount 3}}
           {:process 0 :type :invoke :f :read :value nil}
           {:process 0 :type :fail :f :read :value nil}"""
    )
    assert isinstance(history, BankHistory)
    assert history.transfers == 1
    assert [(one.reader, one.balances) for one in history.reads] == [("T1 (line 2)", {0: 10, 1: 0})]


def test_log_orders_the_transactions_by_what_they_wrote():
    history = from_json(
        """{"process": 0, "type": "ok", "value": [["w", "x", 1], ["w", "y", 1]]}
           {"process": 1, "type": "ok", "value": [["w", "x", 2]]}
           {"process": 2, "type": "ok", "value": [["r", "x", 1]]}"""
    )
    assert with_log(history, '[["x", 2]]\n[["y", 1], ["x", 1]]', name="log").log == (2, 1)
    assert with_log(history, '[["x", 2]]\n\n[["y", 1]]\n', name="log").log == (2, 1)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ('[["x", 1]]\n[["x", 7]]', "log:2: the log does not fit"),
        ('[["x", 1], ["x", 2]]', "are not writes of one transaction"),
        ('{"x": 1}', "is no transaction [[key, value], ...]"),
        ("[[]]", "is no transaction [[key, value], ...]"),
        ('[["x", 1]]', "it misses T2, which committed"),
    ],
)
def test_log_that_does_not_fit_is_refused(log, reason):
    history = from_json(
        """{"process": 0, "type": "ok", "value": [["w", "x", 1]]}
           {"process": 1, "type": "ok", "value": [["w", "x", 2]]}"""
    )
    with pytest.raises(ParaplyError) as caught:
        with_log(history, log + "\n", name="log")
    assert caught.value.error is LOG_UNLIKE_HISTORY
    assert reason in caught.value.text


def micros(history):
    return [
        (
            one.ending.value,
            [(access.kind.value, access.key, access.value) for access in one.accesses],
        )
        for one in history.transactions
    ]


def test_set_of_jepsen_becomes_micro_operations():
    history = edn(
        """{:process 0 :type :invoke :f :add :value 1 :node "n1"}
           {:process 0 :type :ok :f :add :value 1 :node "n1"}
           {:process 1 :type :invoke :f :read :value nil :node "n2"}
           {:process 1 :type :ok :f :read :value #{3 1} :node "n2"}
           {:process 1 :type :invoke :f :read :value nil :node "n2"}
           {:process 1 :type :ok :f :read :value [1 1] :node "n2"}"""
    )
    assert history.data_type is DataType.SET
    assert [one.node for one in history.transactions] == ["n1", "n2", "n2"]
    assert micros(history) == [
        ("ok", [("add", "set", 1)]), ("ok", [("r", "set", (1, 3))]), ("ok", [("r", "set", (1, 1))])
    ]  # fmt: skip


def test_counter_of_jepsen_becomes_micro_operations():
    history = edn(
        """{:process 0 :type :invoke :f :add :value 5}
           {:process 0 :type :info :f :add :value 5}
           {:process 1 :type :invoke :f :read :value nil}
           {:process 1 :type :ok :f :read :value 5}"""
    )
    assert history.data_type is DataType.COUNTER
    assert micros(history) == [("info", [("inc", "counter", 5)]), ("ok", [("r", "counter", 5)])]


def test_independent_sets_have_their_keys():
    history = edn(
        """{:process 0 :type :invoke :f :add :value [k 1]}
           {:process 0 :type :ok :f :add :value [k 1]}
           {:process 0 :type :invoke :f :read :value [k nil]}
           {:process 0 :type :ok :f :read :value [k [1]]}"""
    )
    assert micros(history) == [("ok", [("add", "k", 1)]), ("ok", [("r", "k", (1,))])]


@pytest.mark.parametrize(
    ("values", "data_type"), [((1, 2), DataType.SET), ((1, 1), DataType.COUNTER)]
)
def test_only_a_counter_repeats_its_values_where_nothing_was_read(values, data_type):
    history = edn("".join(f"{{:process {n} :type :invoke :f :add :value {v}}}"
                          for n, v in enumerate(values)))  # fmt: skip
    assert history.data_type is data_type


BAD = [
    ("7", "h.edn:1", "7 is no map"),
    ("\n{:type :maybe}", "h.edn:2", "its type is 'maybe'"),
    ("{:type :ok :value 3}", "h.edn:1", "no vector of micro-operations"),
    ("{:type :ok :value [3]}", "h.edn:1", "3 is no micro-operation"),
    ("{:type :ok :value [[:cas x 1]]}", "h.edn:1", "':cas' is not append, w, add, inc or r"),
    ("{:type :ok :value [[:w x nil]]}", "h.edn:1", "writes nothing"),
    ("{:type :ok :value [[:w x {}]]}", "h.edn:1", "a map where a value is due"),
    ("{:type :ok :value [[:append x 1]]}\n{:type :ok :value [[:r x 1]]}", "h.edn:2",
     "it read 1, which is no list"),
    ("{:process 0 :type :invoke :value []}\n{:process 0 :type :invoke :value []}", "h.edn:2",
     "what it invoked in line 1 has not ended"),
    ("{:f :transfer :type :ok}\n{:f :read :type :ok :value 3}", "h.edn:2",
     "a map of accounts and balances"),
    ("{:f :read :type :ok :value {0 :much}}", "h.edn:1", "account 0 has ':much'"),
    ("{:f :add :type :ok :value 1}\n{:f :cas :type :ok :value 3}", "h.edn:2",
     "'cas' is not add or read"),
    ("{:f :add :type :ok :value [k 1]}\n{:f :read :type :ok :value 3}", "h.edn:2",
     "its value 3 is not [key value]"),
    ("{:type :ok :value [[:inc x -1]]}", "h.edn:1", "it increments a counter by -1"),
    ("{:type :ok :value [[:inc x 1] [:r x [1]]]}", "h.edn:1", "it read (1,) from a counter"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "reason"), BAD)
def test_operation_that_is_none_is_refused(text, where, reason):
    with pytest.raises(ParaplyError) as caught:
        edn(text)
    assert caught.value.error is MALFORMED_OPERATION
    assert caught.value.where == where
    assert reason in caught.value.text


@pytest.mark.parametrize(
    "text",
    [
        "{:type :ok :value [[:append x 1]]}{:type :ok :value [[:w x 1]]}",
        "{:f :transfer :type :ok}{:f :txn :type :ok :value [[:w x 1]]}",
        "{:type :ok :value [[:add x 1]]}{:type :ok :value [[:inc y 1]]}",
    ],
)
def test_two_workloads_in_one_history_are_refused(text):
    with pytest.raises(ParaplyError) as caught:
        edn(text)
    assert caught.value.error is MIXED_WORKLOAD


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1}\n{"a"', 2),
        ('[{"a": 1}\n{"a": 1}]', 2),
        ("[1,\n2\n", 3),
        ("[1] 2", 1),
        ("NaN", 1),
        ("[" * 100_000, 1),
    ],
)
def test_text_that_is_no_json_is_refused_with_its_line(text, line):
    with pytest.raises(ParaplyError) as caught:
        list(read_json(text, name="h.json"))
    assert caught.value.error is MALFORMED_JSON
    assert caught.value.where == f"h.json:{line}"


def test_json_values_have_the_lines_they_begin_in():
    text = '[\n {"a":\n 1},\n\n {"b": 2}\n]'
    assert list(read_json(text)) == [(2, {"a": 1}), (5, {"b": 2})]
