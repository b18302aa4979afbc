"""The simulated system passes a right writer, and catches every wrong one."""

from __future__ import annotations

import pytest

from tests.simulated_os import writers
from tests.simulated_os.runs import Lab, Scenario, Server, problems
from tests.simulated_os.system import Fault, faults_of


def lab_of(server: Server, writer, folder) -> Lab:
    return Lab(
        server,
        Scenario(
            name=writer.__name__,
            words=(),
            setup=lambda world: (world / "input").write_text("rows\n"),
            target=f"tests.simulated_os.writers:{writer.__name__}",
        ),
        folder,
    )


@pytest.mark.long
def test_right_writer_passes(server, tmp_path):
    lab = lab_of(server, writers.right, tmp_path)
    cases = lab.cases()
    assert {fault for _, fault in cases} == set(Fault) - {Fault.BACK, Fault.STILL}
    assert problems(lab, cases) == []


@pytest.mark.long(each=4)
@pytest.mark.parametrize("writer", writers.WRONG, ids=lambda writer: writer.__name__)
def test_wrong_writer_is_caught(writer, server, tmp_path):
    lab = lab_of(server, writer, tmp_path)
    found = problems(lab, lab.cases())
    assert any(writers.WRONG[writer] in what for what in found), found


def test_faults_fit_the_call():
    assert Fault.SHORT in faults_of("write r.json")
    assert Fault.ENOSPC not in faults_of("read bin.000001")
    assert Fault.KILLED not in faults_of("stat r.json")
    assert faults_of("clock time") == (Fault.BACK, Fault.STILL)
