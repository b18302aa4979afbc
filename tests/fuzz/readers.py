"""Every reader of foreign input: inputs to begin with, how to damage them, and what reads them."""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from unittest import mock

from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.schema.dump import load_schema_text
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.source import open_source
from paraply.adapters.conformance.child import ApplierDiedError
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.protocol import Message
from paraply.adapters.conformance.protocol import decode as decode_message
from paraply.adapters.group_wire.observe import observe_group
from paraply.adapters.live.galera.log import read_provider_log
from paraply.adapters.servers.existing import parse_dsn
from paraply.models.judging.certificates.store import FOLDER as CERTIFICATES
from paraply.models.judging.certificates.store import read as read_certificates
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary import secrets
from paraply.vocabulary.group_trace_jsonl import read_group_trace
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.mariadb_gtid import parse_position
from paraply.vocabulary.not_compilable import NotCompilable
from paraply.vocabulary.notation import format_history
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.programs import decode_program, parse_program
from tests.adapters.postgresql.stream_writer import INT4, TEXT, StreamWriter
from tests.builders.every_command import CLOCK, LOG
from tests.builders.group_captures import capture_damaged, group_captures
from tests.builders.hot_logs import hot_log
from tests.fuzz import mutations as damage
from tests.fuzz import text_twin
from tests.fuzz.binlog_target import check, file_of
from tests.fuzz.binlog_target import seeds as scripts_and_logs
from tests.fuzz.mutations import Mutate
from tests.fuzz.oracle import BrokenError, outcome_of_command, refusals

TESTS = Path(__file__).resolve().parents[1]
BINLOGS = TESTS / "fixtures" / "binlogs"
MEMORY = "--memory=256M"
TEXT_BYTES_MAX = 60_000
LOG_BYTES_MAX = 8_192

Files = dict[str, bytes]
"""An input: contents by name, in a folder of its own."""
ONE = "input"
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
_NOT_OF_ITS_FORMAT = (ValueError, OSError, EOFError, RecursionError, zlib.error)
"""What a mutator raises for what earlier damage left."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A reader, as the fuzzer drives it.

    Attributes:
        seeds: sound inputs, made once.
        damage: by file name; the last fitting suffix decides.
        read: reads the input; returns what came out. A reader's own errors are outcomes.
        is_choosy: whether ``damage`` alone may change its inputs, because the oracle fits no other.
    """

    name: str
    seeds: Callable[[], list[Files]]
    damage: dict[str, Mutate]
    read: Callable[[Files], str]
    is_choosy: bool = False

    def damaged(self, seed: Files, choice: Random) -> Files:
        """Return a damaged copy; folders also lose, gain and exchange files."""
        files = dict(seed)
        for _ in range(1 if len(files) == 1 else choice.randrange(1, 3)):
            name = choice.choice(sorted(files))
            if len(files) > 1 and not choice.randrange(4):
                self._exchange(files, name, choice)
                continue
            mutate = next(how for suffix, how in self.damage.items() if name.endswith(suffix))
            try:
                files[name] = mutate(files[name], choice)
            except (*_NOT_OF_ITS_FORMAT, MemoryError):  # A document of copies outgrows the limit.
                files[name] = damage.bytes_damaged(files[name], choice)
        return files

    @staticmethod
    def _exchange(files: Files, name: str, choice: Random) -> None:
        match choice.randrange(3):
            case 0:
                files[f"{name}.stray{Path(name).suffix}"] = files[name]
            case 1:
                files[name] = files[choice.choice(sorted(files))]
            case _:
                del files[name]


def in_folder(read_folder: Callable[[Path], str]) -> Callable[[Files], str]:
    """Return a reader that writes the input to a new folder, in memory where possible."""

    def read(files: Files) -> str:
        with tempfile.TemporaryDirectory(prefix="paraply-fuzz-", dir=_MEMORY) as place:
            folder = Path(place) / "in"
            folder.mkdir()
            for name, data in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            return read_folder(folder)

    return read


def command(*words: str) -> Callable[[Files], str]:
    """Return a reader that runs a command; ``{}`` in its words is the folder."""
    return in_folder(lambda folder: outcome_of_command([word.format(folder) for word in words]))


def function(of_text: Callable[[str], object]) -> Callable[[Files], str]:
    """Return a reader that hands the text of the file to a function."""

    def read(files: Files) -> str:
        with refusals() as refused:
            of_text(_text(files))
        return refused[0] if refused else "read"

    return read


def _text(files: Files) -> str:
    return files[ONE].decode("utf-8", "surrogateescape")


def single(*contents: bytes, name: str = ONE) -> list[Files]:
    """Return inputs of one file each."""
    return [{name: data} for data in contents]


# --- Binary logs -----------------------------------------------------------------------------


@cache
def scripts() -> list[Files]:
    """Return events of both flavours; a file is made of them when it is read."""
    return single(*(one for one in scripts_and_logs() if one[0] < 4))


def small_logs() -> list[Files]:
    """Return the sample logs, as files and as scripts, and small ones of real servers."""
    shipped = (path for path in sorted(BINLOGS.rglob("*")) if path.is_file())
    real = [path.read_bytes() for path in shipped if path.stat().st_size <= LOG_BYTES_MAX]
    return single(*scripts_and_logs(), *(data for data in real if data.startswith(b"\xfebin")))


def log_damaged(data: bytes, choice: Random) -> bytes:
    """Damage a script, or the bytes of a file."""
    is_script = data[:1] < b"\4"
    return (damage.script_damaged if is_script else damage.bytes_damaged)(data, choice)


def decode(files: Files) -> str:
    """Read a log without judging it."""
    return check(files[ONE])


def _made(folder: Path) -> str:
    path = folder / "bin.000001"
    path.write_bytes(file_of((folder / ONE).read_bytes()))
    return str(path)


def audit_script(folder: Path) -> str:
    """Audit the log that a script stands for."""
    return outcome_of_command(["audit", _made(folder), "--engine=readable", MEMORY])


def verify_script(folder: Path) -> str:
    """Verify a damaged log of a target against the sound one."""
    target = _made(folder)
    flavour = (folder / ONE).read_bytes()[:1] == b"\1"
    source = folder / "source.000001"
    source.write_bytes(file_of(scripts()[flavour][ONE]))
    return outcome_of_command(["verify", str(source), "--target", target])


@cache
def _hot_logs() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            hot_log(
                Path(folder) / dialect, size_bytes=9_000, block_transactions=5, dialect=dialect
            ).read_bytes()
            for dialect in ("mysql", "mariadb")
        ]


def hot_scripts() -> list[Files]:
    """Return short logs that the compiled engine takes."""
    found = []
    for number, data in enumerate(_hot_logs()):
        script = bytearray([number])
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            for event in list(BinlogReader(open_source(file.name)).raw_events())[1:]:
                size = len(event.body).to_bytes(2, "little")
                script += bytes([event.header.type_code]) + size + event.body
        found.append(bytes(script))
    return single(*found)


def both_engines(folder: Path) -> str:
    """Audit with both engines; raise where they differ."""
    from tests.builders.engines import audit_by_leaving, audit_by_readable, differences

    log = (_made(folder),)
    with refusals() as refused:
        readable = audit_by_readable(log)
    with refusals() as refused_too:
        try:
            compiled = audit_by_leaving(log)
        except NotCompilable:
            return refused[0] if refused else "readable only"
    if refused or refused_too:
        if refused != refused_too:
            raise BrokenError(f"one engine refuses: {refused} and {refused_too}")
        return refused[0]
    found = differences(readable, compiled)
    if found:
        raise BrokenError(f"the engines differ: {found[:3]}")
    return readable.result.verdict.word


def packed_logs() -> list[Files]:
    """Return compressed logs of both flavours."""
    logs = [one for one in scripts_and_logs() if one[0] >= 4]
    return single(*(gzip.compress(log, 1, mtime=0) for log in logs))


# --- Text -----------------------------------------------------------------------------------


def texts_of_logs() -> list[Files]:
    """Return what the servers' own programs print of recorded logs."""
    found = sorted(BINLOGS.glob("*/*/expected/*.txt.gz"))
    return single(*(gzip.decompress(path.read_bytes())[:TEXT_BYTES_MAX] for path in found[::3]))


def schemas() -> list[Files]:
    """Return recorded table definitions."""
    found = [*BINLOGS.glob("*/foreign-keys/schema.sql"), *BINLOGS.glob("*/types/schema.sql")]
    return single(*(path.read_bytes() for path in sorted(found, key=lambda one: one.parts[-2:])))


def read_definitions(files: Files) -> str:
    """Read table definitions; return how many tables there are."""
    registry = SchemaRegistry()
    with refusals() as refused:
        load_schema_text(registry, files[ONE].decode("utf-8", "replace"), ONE)
    return refused[0] if refused else f"{len(registry.tables())} tables"


def histories() -> list[Files]:
    """Return runs of several subjects as JSON Lines."""
    return single(*(_lines(history) for history in _runs()))


def notations() -> list[Files]:
    """Return runs of several subjects in the notation of tests."""
    return single(*(format_history(history, lines=True).encode() for history in _runs()))


@cache
def _runs() -> tuple:
    (schedule,) = random_schedules(3, 1)
    subjects = ("applier", "group", "write_sets", "semi_sync")
    return tuple(subject_named(name).run(schedule, Workload()) for name in subjects)


def _lines(history: object) -> bytes:
    return "".join(f"{line}\n" for line in write_history(history)).encode()


def clients() -> list[Files]:
    """Return recorded histories of clients."""
    return single(
        *(path.read_bytes() for path in sorted((TESTS / "fixtures/histories").glob("*.edn")))
    )


MAPPING = b"""\
filtered = ["shop.audit_log"]

[[table]]
source = "folded.ascii"
target = "folded.ascii"
renamed = { w = "w" }
leave_out = ["note"]
key = ["id"]
cast = { w = "trim" }
"""
EXPECTED = b"""\
[[expected]]
case = "B-prefix-01"
reason = "known"
link = "https://example.org/1"
"""


def read_expected(folder: Path) -> str:
    """Read a file of expected failures."""
    from paraply.adapters.conformance.cases import cases_named
    from paraply.conforming.expected_failures import read_expected_failures

    with refusals() as refused:
        read_expected_failures(folder / ONE, cases_named([]))
    return refused[0] if refused else "read"


def names(files: Files) -> str:
    """Parse short texts of options, by one parser after the other until one takes it."""
    text = _text(files)
    for parse in (
        parse_gtid_set, parse_position, parse_dsn,
        lambda one: decode_program(parse_program(one)),
    ):  # fmt: skip
        with refusals() as refused:
            parse(text)
            return "read"
    secrets._secrets.clear()  # Passwords of all inputs would be searched for in every message.
    return refused[0]


def galera_logs() -> list[Files]:
    """Return the beginnings of recorded error logs of Galera members."""
    found = sorted((TESTS / "data" / "galera").rglob("*.error.log.gz"))
    return single(*(gzip.decompress(path.read_bytes())[-9_000:] for path in found))


def read_galera(files: Files) -> str:
    """Read an error log; what it does not know, it passes over."""
    log = read_provider_log(_text(files).splitlines(keepends=True))
    numbers = [one.seqno for one in log.committed]
    return "in order" if numbers == sorted(set(numbers)) else "out of order"


# --- Documents, folders and messages --------------------------------------------------------


def group_runs() -> list[Files]:
    """Return recorded runs of groups, cut to some hundred steps."""
    found = []
    for path in sorted((TESTS / "data" / "group_replication").glob("*.jsonl.gz")):
        lines = gzip.decompress(path.read_bytes()).splitlines()[:200]
        lines.append(json.dumps({"steps": len(lines) - 1}).encode())
        found.append(b"\n".join(lines) + b"\n")
    return single(*found)


def read_group(folder: Path) -> str:
    """Read a recorded run of a group."""
    with refusals() as refused:
        read_group_trace(folder / ONE)
    return refused[0] if refused else "read"


def observe(folder: Path) -> str:
    """Read captured traffic of a group; return how many steps there are."""
    with refusals() as refused:
        found = observe_group(
            folder / ONE, [], server_version="9.7.4", group_name="group", block_size=1
        )
    return refused[0] if refused else f"{len(found.steps)} steps"


def certificates() -> list[Files]:
    """Return small files of proof certificates."""
    found = sorted(CERTIFICATES.glob("*.json"), key=lambda path: path.stat().st_size)
    return single(*(path.read_bytes() for path in found[:3]))


def read_proofs(folder: Path) -> str:
    """Read certificates."""
    with refusals() as refused:
        read_certificates(folder / ONE)
    return refused[0] if refused else "read"


def streams() -> list[Files]:
    """Return a stream of PostgreSQL in both forms."""
    writer = StreamWriter()
    writer.begin("0/1")
    writer.relation(4, "public.account", [("id", INT4), ("owner", TEXT), ("balance", INT4)])
    writer.insert(4, [1, "a", 10])
    writer.insert(4, [2, None, 10])
    writer.commit("0/10", 5)
    for number in range(6):
        writer.begin()
        writer.update(4, [1, "a", number], [1, "a", number - 1 if number else 10])
        writer.logical_message()
        writer.commit(f"0/{20 + number:X}")
    writer.begin()
    writer.delete(4, [2, None, 10])
    writer.truncate(4)
    writer.commit("0/30")
    return single(writer.raw(), writer.printed())


def parquet_folders() -> list[Files]:
    """Return histories as Parquet files."""
    from paraply.adapters.history_parquet import write_parquet

    with tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder) / "runs", _runs()[:2])
        return [_files_in(Path(folder) / "runs")]


def campaigns() -> list[Files]:
    """Return the folder of a short campaign with a counterexample."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out"
        words = ["--mutants=last_committed_off_by_one", "--histories=40", "--batch=20"]
        outcome_of_command(["mine", *words, "--master=none", f"--out={out}"])
        return [_files_in(Path(out))]


def _files_in(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read_campaign(folder: Path) -> str:
    """Report a campaign, make its pages, and keep its counterexamples."""
    said = [
        outcome_of_command(["mine", "--report", str(folder)]),
        outcome_of_command(["show", str(folder), "--out", f"{folder}-pages", "--force"]),
        outcome_of_command(
            ["mine", "--promote", str(folder), "all", f"--regressions={folder}-kept", "--force"]
        ),
    ]
    return " ".join(dict.fromkeys(said))


CONFORM = ("conform", "--case=B-prefix-01", "--schedules=1")


def conversations() -> list[Files]:
    """Return what an applier writes during a run."""
    from paraply.adapters.conformance import child

    lines: list[bytes] = []
    decode = child.decode

    def heard(line: bytes) -> object:
        lines.append(line)
        return decode(line)

    with mock.patch.object(child, "decode", heard):
        outcome_of_command([*CONFORM, "--applier", CLOCK])
    return single(b"\n".join(lines) + b"\n")


def converse(folder: Path) -> str:
    """Run a program that says what is in the file, whatever it hears."""
    return outcome_of_command([*CONFORM, "--timeout=5", "--", "cat", str(folder / ONE)])


class _Recital:
    """An applier whose messages are there already, instead of a process and its pipes."""

    last_lines = ()
    has_spoken = True
    pid = 0

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    def send(self, message: object) -> None:
        """Hear nothing."""

    def receive(self, timeout: float | None = None) -> Message:
        """Return the next message."""
        if not self._lines:
            raise ApplierDiedError("it ended")
        return decode_message(self._lines.pop(0))

    def receive_until_idle(self) -> list[Message]:
        """Return all other messages."""
        return [self.receive() for _ in range(len(self._lines))]

    def kill(self) -> None:
        """End."""


def recite(files: Files) -> str:
    """Run a case with an applier that says what is in the file, whatever it hears."""
    lines = files[ONE].splitlines()
    with mock.patch.object(CommandLauncher, "start", side_effect=lambda: _Recital(lines)):
        found = outcome_of_command([*CONFORM, "--timeout=5", "--", "cat"])
    # Nearly every damage fails: how late shows that inputs differ.
    return f"{found} with 2^{len(lines).bit_length()} messages unheard"


def readers() -> Iterator[Reader]:
    """Yield all readers."""
    jsonl = f"{{}}/{ONE}.jsonl"
    for name, seeds, mutate, read in (
        ("decoder", small_logs, log_damaged, decode),
        ("binary-log", scripts, damage.script_damaged, in_folder(audit_script)),
        ("both-engines", hot_scripts, damage.script_damaged, in_folder(both_engines)),
        ("log-of-target", scripts, damage.script_damaged, in_folder(verify_script)),
        ("text-twin", lambda: single(*text_twin.logs()), text_twin.damaged,
         in_folder(text_twin.read)),
        ("packed-log", packed_logs, damage.packed(damage.bytes_damaged),
         command("audit", f"{{}}/{ONE}", "--engine=readable", MEMORY)),
        ("log-as-text", texts_of_logs, damage.text_damaged,
         command("audit", f"{{}}/{ONE}", MEMORY)),
        ("schema", schemas, damage.text_damaged, read_definitions),
        ("notation", notations, damage.text_damaged, function(parse_history)),
        ("edn", lambda: _renamed(clients(), ".edn"), damage.text_damaged,
         command("check", f"{{}}/{ONE}.edn")),
        ("json-lines", lambda: _renamed(histories(), ".jsonl"), damage.json_lines_damaged,
         command("check", jsonl)),
        ("replay", lambda: _renamed(histories(), ".jsonl"), damage.json_lines_damaged,
         command("replay", jsonl)),
        ("page", lambda: _renamed(histories(), ".jsonl"), damage.json_lines_damaged,
         command("show", jsonl, "--out", "{}/page.html", "--no-alternatives", "--force")),
        ("mapping", lambda: single(MAPPING), damage.text_damaged,
         command("verify", str(LOG), "--target", str(LOG), "--map-file", f"{{}}/{ONE}")),
        ("expected-failures", lambda: single(EXPECTED), damage.text_damaged,
         in_folder(read_expected)),
        ("options", lambda: single(*OPTIONS), damage.text_damaged, names),
        ("galera-log", galera_logs, damage.text_damaged, read_galera),
        ("group-run", group_runs, damage.json_lines_damaged, in_folder(read_group)),
        ("group-capture", lambda: single(*group_captures()), capture_damaged, in_folder(observe)),
        ("certificates", certificates, damage.json_damaged, in_folder(read_proofs)),
        ("postgresql-stream", streams, damage.bytes_damaged,
         command("verify", f"{{}}/{ONE}", "--target", f"{{}}/{ONE}", "--by-content",
                 "--key=public.account=id")),
        ("parquet", parquet_folders, damage.bytes_damaged, command("check", "{}")),
        ("messages", conversations, damage.json_lines_damaged, recite),
        ("conversation", conversations, damage.json_lines_damaged, in_folder(converse)),
    ):  # fmt: skip
        # Without a server there is no program that prints a log.
        if name != "text-twin" or text_twin.programs():
            yield Reader(
                name=name, seeds=cache(seeds), damage={"": mutate}, read=read,
                is_choosy=name == "text-twin",
            )  # fmt: skip
    yield Reader(
        name="campaign",
        seeds=cache(campaigns),
        damage={
            ".json.gz": damage.packed(damage.json_damaged),
            ".jsonl": damage.json_lines_damaged,
            "_delta_log/00000000000000000000.json": damage.json_lines_damaged,
            "_delta_log/00000000000000000001.json": damage.json_lines_damaged,
            ".json": damage.json_damaged,
            "": damage.bytes_damaged,
        },
        read=in_folder(read_campaign),
    )


OPTIONS = (
    b"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7,3e11fa47-71ca-11e1-9e33-c80aa9429563:tag:1",
    b"0-1-100,1-2-200",
    b"mysql://me:secret@db1:3306/?ssl_mode=required",
    b"AwAAAAAAAAAAAAEBAQ",
)


def _renamed(seeds: list[Files], suffix: str) -> list[Files]:
    return [{f"{name}{suffix}": data for name, data in files.items()} for files in seeds]
