"""Where the core and each extra install: ``python -m ci.platforms`` (``make platforms``).

Resolves them with pip, wheels only, for platforms and Python versions that this machine need not
have, and stores the results in docs/platforms.jsonl for docs/platforms.md. Needs a network.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from ci.pages.dependencies import project

RECORDS = Path(__file__).resolve().parents[1] / "docs" / "platforms.jsonl"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
CORE = "core"
PARTS = (CORE, "fast", "prove", "mine", "live", "docs")
GLIBC_MINOR, MUSL_MINOR, MACOS = 34, 2, (14, 0)
SECONDS_MAX = 600
SOURCE_ONLY = "source only"

# pip takes the platform's tags, but evaluates environment markers for the machine it runs on.
_PIP = (
    "import json, sys\n"
    "from pip._vendor.packaging import markers\n"
    "here = markers.default_environment()\n"
    "markers.default_environment = lambda: {**here, **json.loads(sys.argv[1])}\n"
    "from pip._internal.cli.main import main\n"
    "sys.exit(main(sys.argv[2:]))\n"
)
_NONE_FOUND = re.compile(r"No matching distribution found for ([A-Za-z0-9._-]+)")
_DEPENDS = re.compile(r"^ +\S+ \S+ depends on ([A-Za-z0-9._-]+)", re.MULTILINE)
_SKIPPED = re.compile(r"Skipping link: (.+?): \S*?([^/\s]+\.(?:whl|tar\.gz|zip))\b")


@dataclass(frozen=True, slots=True)
class Platform:
    """One platform: the wheels' tags and the values of environment markers."""

    name: str
    tags: tuple[str, ...]
    markers: Mapping[str, str]


def _linux(machine: str) -> Iterator[Platform]:
    markers = {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux",
               "platform_machine": machine}  # fmt: skip
    shown = machine.replace("x86_64", "x86-64")
    glibc = tuple(f"manylinux_2_{minor}_{machine}" for minor in range(GLIBC_MINOR, 4, -1))
    older = ("manylinux2014", "manylinux2010", "manylinux1", "linux")
    glibc += tuple(f"{name}_{machine}" for name in older)
    yield Platform(f"Linux {shown}, glibc", glibc, markers)
    musl = tuple(f"musllinux_1_{minor}_{machine}" for minor in range(MUSL_MINOR, -1, -1))
    yield Platform(f"Linux {shown}, musl", (*musl, f"linux_{machine}"), markers)


def _macos(machine: str) -> Platform:
    markers = {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin",
               "platform_machine": machine}  # fmt: skip
    return Platform(
        f"macOS {machine.replace('x86_64', 'x86-64')}",
        tuple(mac_platforms(version=MACOS, arch=machine)),
        markers,
    )


PLATFORMS = (
    *_linux("x86_64"),
    *_linux("aarch64"),
    _macos("x86_64"),
    _macos("arm64"),
    Platform(
        "Windows x86-64",
        ("win_amd64",),
        {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows",
         "platform_machine": "AMD64"},
    ),
)  # fmt: skip


class NoAnswerError(RuntimeError):
    """pip failed for a reason other than a missing wheel, for example without a network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """One part on one platform with one Python.

    Attributes:
        versions: the resolved distributions, by name.
        source: distributions that exist as source only; the others are resolved without them.
        missing: distributions without a wheel, with the reason; empty if all resolved.
        date: of the run, UTC.
    """

    platform: str
    python: str
    part: str
    versions: dict[str, str] = field(default_factory=dict)
    source: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    date: str = ""

    @property
    def key(self) -> tuple[int, int, int]:
        """Return the place in the fixed order of results."""
        names = [one.name for one in PLATFORMS]
        return names.index(self.platform), PARTS.index(self.part), PYTHONS.index(self.python)


def _name(text: str) -> str:
    return str(canonicalize_name(text))


def requirements_of(part: str) -> list[str]:
    """Return the core's requirements and those of an extra."""
    about = project()
    extra = [] if part == CORE else about["optional-dependencies"][part]
    return [*about["dependencies"], *extra]


def plain_environment() -> dict[str, str]:
    """Return the environment without settings of pip, such as folders with more wheels."""
    left_out = ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "PIP_CONFIG_FILE": os.devnull}


def _pip(platform: Platform, python: str, words: Iterable[str]) -> subprocess.CompletedProcess[str]:
    markers = {
        **platform.markers,
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_version": f"{python}.0",
    }
    options = ["install", "--dry-run", "--target=unused", "--only-binary=:all:",
               f"--python-version={python}", "--implementation=cp"]  # fmt: skip
    options += [f"--platform={tag}" for tag in platform.tags]
    return subprocess.run(
        [sys.executable, "-c", _PIP, json.dumps(markers), *options, *words],
        env=plain_environment(), capture_output=True, text=True, check=False, timeout=SECONDS_MAX,
    )  # fmt: skip


def resolve(platform: Platform, python: str, part: str, suspects: Iterable[str] = ()) -> Resolution:
    """Return what pip resolves.

    ``suspects`` are looked up first: pip tries all releases of what depends on a missing wheel.

    Raises:
        NoAnswerError: pip did not name a distribution without wheels.
    """
    wanted = {_name(Requirement(one).name): one for one in requirements_of(part)}
    direct, source = {*wanted}, []
    versions: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name in suspects:
        if _pip(platform, python, ["--no-deps", wanted.get(name, name)]).returncode:
            missing[name] = _reason(name, platform, python) or SOURCE_ONLY
            wanted.pop(name, None)
    while missing.keys() <= direct:
        versions, name = _resolved(platform, python, [*wanted.values()])
        if not name:
            break
        reason = _reason(name, platform, python)
        if reason or name not in direct:
            missing[name] = reason or SOURCE_ONLY
        else:
            source.append(name)
        wanted.pop(name, None)
    return Resolution(
        platform=platform.name, python=python, part=part, versions=versions, source=source,
        missing=missing, date=datetime.now(UTC).date().isoformat(),
    )  # fmt: skip


def _resolved(platform: Platform, python: str, wanted: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the versions, or the name of a distribution that pip does not find."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = ["--progress-bar=off", f"--report={report}", *wanted]
        done = _pip(platform, python, words)
        if done.returncode == 0:
            return versions_of(report.read_text(encoding="utf-8")), ""
    return {}, culprit(done.stdout, done.stderr)


def culprit(out: str, errors: str) -> str:
    """Return the distribution that pip does not find.

    Raises:
        NoAnswerError: pip failed for another reason.
    """
    if found := _NONE_FOUND.search(errors):
        return _name(found.group(1))
    # A missing wheel of a dependency is a conflict of every release that depends on it.
    _, _, conflict = out.partition("The conflict is caused by:")
    names = {_name(name) for name in _DEPENDS.findall(conflict)}
    if len(names) != 1:
        raise NoAnswerError((out + errors)[-2000:])
    return names.pop()


def _reason(name: str, platform: Platform, python: str) -> str:
    # Without a version: pip may find an old release, and lists all files in any case.
    log = _pip(platform, python, ["-vv", "--no-deps", name]).stdout
    return reason_of(name, log, platform, python)


def versions_of(report: str) -> dict[str, str]:
    """Return the versions in a report of pip, by name."""
    found = {
        _name(one["metadata"]["name"]): str(one["metadata"]["version"])
        for one in json.loads(report)["install"]
    }
    return dict(sorted(found.items()))


def reason_of(name: str, log: str, platform: Platform, python: str) -> str:
    """Return why no wheel of a distribution fits; empty if it has source distributions only.

    Raises:
        NoAnswerError: the log names no file, so the index was not read.
    """
    files = [file for _, file in _SKIPPED.findall(log) if _is_of(name, file)]
    if not files:
        raise NoAnswerError(f"pip lists no file of {name}:\n{log[-2000:]}")
    tags: dict[Version, set[str]] = {}
    for file in files:
        if file.endswith(".whl"):
            _, version, _, of_file = parse_wheel_filename(file)
            tags.setdefault(version, set()).update(tag.platform for tag in of_file)
    if not tags:
        return ""
    newest = max(tags, key=lambda version: (not version.is_prerelease, version))
    is_there = tags[newest] & {*platform.tags, "any"}
    return f"{newest} has no wheel for {'Python ' + python if is_there else 'the platform'}"


def _is_of(name: str, file: str) -> bool:
    return _name(file).startswith(f"{name}-")


def stored() -> list[Resolution]:
    """Return the stored results."""
    if not RECORDS.exists():
        return []
    lines = RECORDS.read_text(encoding="utf-8").splitlines()
    return [Resolution(**json.loads(line)) for line in lines]


def store(found: Iterable[Resolution]) -> None:
    """Replace the results of the same platform, part and Python."""
    by_key = {one.key: one for one in [*stored(), *found]}
    lines = [json.dumps(asdict(by_key[key])) for key in sorted(by_key)]
    RECORDS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def lost(before: Iterable[Resolution], now: Iterable[Resolution]) -> list[Resolution]:
    """Return the results of ``now`` that no longer resolve."""
    resolved = {one.key for one in before if not one.missing}
    return [one for one in now if one.missing and one.key in resolved]


def _on_all_pythons(part: str, platform: Platform) -> list[Resolution]:
    found: list[Resolution] = []
    for python in PYTHONS:
        suspects = found[-1].missing if found else ()
        found.append(resolve(platform, python, part, suspects))
        print(f"{part}, {platform.name}, {python}: {found[-1].missing or 'resolved'}", flush=True)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Resolve and store; exit code 1 if something resolved before and does not now."""
    parser = argparse.ArgumentParser(prog="python -m ci.platforms", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    options = parser.parse_args(argv)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    before, now = stored(), []
    pairs = [(part, platform) for part in options.parts or PARTS for platform in PLATFORMS]
    with ThreadPoolExecutor(2) as pool:
        for of_pair in pool.map(lambda pair: _on_all_pythons(*pair), pairs):
            store(of_pair)
            now += of_pair
    gone = lost(before, now)
    for one in gone:
        print(f"no longer resolves: {one.part}, {one.platform}, {one.python}: {one.missing}",
              file=sys.stderr)  # fmt: skip
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
