"""A history as SQL: tables with their keys, statements by session, and what went wrong."""

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.conforming.suite import Conformance
from paraply.counterexamples.showing.sql_schedule import sql_schedule
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.schedule import SeededSchedule


def sql_of(case, rule="paraply.adapters.conformance.rules.correct:LogicalClock"):
    (chosen,) = cases_named([case])
    with CommandLauncher(host_command(rule)) as launcher:
        conformance = Conformance(launcher)
        conformance.meet()
        return sql_schedule(conformance.run_once(chosen, SeededSchedule(1), 0).history)


def test_tables_come_first_with_their_keys():
    text = sql_of("F-parent-01")
    setup = text.split("\n\n", maxsplit=1)[0]
    assert "CREATE DATABASE IF NOT EXISTS `d`;" in setup
    assert "PRIMARY KEY (`id`)" in setup
    assert "REFERENCES `d`.`p` (`id`)" in setup
    assert setup.index("CREATE TABLE `d`.`p`") < setup.index("CREATE TABLE `d`.`c`")


def test_each_statement_has_its_session_and_transactions_end():
    lines = sql_of("B-prefix-01").split("\n\n", maxsplit=1)[1].splitlines()
    assert all(line.split(">")[0] in ("w1", "w2", "w3", "w4") for line in lines)
    assert sum("BEGIN" in line for line in lines) == sum("COMMIT" in line for line in lines) > 2
    assert any("> INSERT INTO `d`.`" in line for line in lines)


def test_text_is_quoted_and_null_compared_as_null():
    text = sql_of("E-unique-07", "paraply.adapters.conformance.rules.correct:OwnKeys")
    assert "NULL" in text
    assert "= NULL" not in text.replace("SET", "").split("WHERE")[-1]


def test_history_without_rows_has_no_sql():
    history = subject_named("certifier").run(SeededSchedule(1), Workload())
    assert sql_schedule(history) == ""
