from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import types

import pytest

from paraply import cli
from paraply.commands import COMMANDS, Command
from paraply.reporting.escape import visible
from paraply.vocabulary.errors import ErrorCode, ParaplyError

# Not registered: the registry is a page of the documentation.
BROKEN_FOR_TESTS = ErrorCode(code="P399", message="'{text}' is broken", remedy="mend {text}")


def run_with(monkeypatch, capsys, action, argv=("try",)):
    """Run ``paraply try`` whose command does ``action``."""
    module = types.ModuleType("try_command")
    module.configure = lambda parser: parser.add_argument("--option")
    module.run = lambda arguments: action()
    monkeypatch.setitem(sys.modules, "try_command", module)
    commands = (Command(name="try", summary="tries", module="try_command"),)
    build = cli.build_parser
    monkeypatch.setattr(cli, "build_parser", lambda arguments: build(arguments, commands))
    code = cli.main(list(argv))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_exit_code_of_the_command_is_returned(monkeypatch, capsys):
    assert run_with(monkeypatch, capsys, lambda: 2)[0] == 2


def test_registered_error_is_two_lines_on_stderr_and_exit_code_3(monkeypatch, capsys):
    def fail():
        raise ParaplyError(BROKEN_FOR_TESTS, where="bin.000001:4", text="it")

    code, out, err = run_with(monkeypatch, capsys, fail)
    assert (code, out) == (3, "")
    assert err == "paraply: P399 bin.000001:4: 'it' is broken\n  remedy: mend it\n"


def test_error_about_a_hostile_name_does_not_act_on_the_terminal(monkeypatch, capsys):
    def fail():
        raise ParaplyError(BROKEN_FOR_TESTS, where="\x1b[2Jlog", text="\x07")

    _, _, err = run_with(monkeypatch, capsys, fail)
    assert "\x1b" not in err
    assert visible("\x1b[2Jlog") in err


def test_interrupt_exits_130_without_a_traceback(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    assert run_with(monkeypatch, capsys, interrupt) == (130, "", "paraply: interrupted\n")


@pytest.mark.parametrize("argv", [["try", "--optoin"], ["tyr"], ["try", "--option"]])
def test_wrong_usage_is_exit_code_3_and_never_2(monkeypatch, capsys, argv):
    code, out, err = run_with(monkeypatch, capsys, lambda: 0, argv)
    assert (code, out) == (3, "")
    assert err.startswith("paraply: P301 ")
    assert "--help" in err.splitlines()[1]


def test_no_command_prints_the_help_and_counts_as_wrong_usage(capsys):
    assert cli.main([]) == 3
    assert "audit" in capsys.readouterr().out


def test_version_names_the_python_that_runs_it(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("paraply ")


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_help_of_every_command_has_an_example_that_begins_with_the_command(name, capsys):
    assert cli.main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert "example" in out
    assert f"  paraply {name}" in out


def test_help_of_the_program_imports_no_command():
    code = (
        "import sys; from paraply.cli import main; main(['--help']);"
        "sys.exit(any(name.startswith('paraply.commands.') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def start(body):
    """Start ``paraply`` in a process of its own, with one command that does ``body``."""
    code = (
        "import sys, time, types; from paraply import cli; from paraply.commands import Command;"
        "module = types.ModuleType('body'); module.configure = lambda parser: None;"
        f"module.run = lambda arguments: {body};"
        "sys.modules['body'] = module; build = cli.build_parser;"
        "commands = (Command(name='body', summary='', module='body'),);"
        "cli.build_parser = lambda arguments: build(arguments, commands);"
        "sys.exit(cli.main(['body']))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_reader_that_goes_away_ends_the_program_quietly():
    with start("[sys.stdout.write('x' * 65536) for _ in range(99)] and 0") as process:
        assert process.stdout.read(1) == b"x"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == cli.EXIT_BROKEN_PIPE


def test_control_c_ends_the_program_with_130_and_one_line():
    with start("print('ready', flush=True) or time.sleep(60)") as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == cli.EXIT_INTERRUPTED
    assert err == b"paraply: interrupted\n"


def test_parser_of_an_unnamed_command_is_left_unconfigured():
    parser = cli.build_parser(["--help"])
    assert isinstance(parser, argparse.ArgumentParser)
    assert parser.parse_args(["audit"]).command == "audit"
    assert not hasattr(parser.parse_args(["audit"]), "run")
