"""Where the core and each extra install: ``python -m ci.platforms`` (``make platforms``).

Resolves them with uv, wheels only, for platforms and Python versions that this machine need not
have, and stores the results in docs/platforms.jsonl for docs/platforms.md. Only files that were
uploaded before the day of the run count, so ``--check`` resolves the same again. Needs a network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from pip._internal.models.index import PyPI

from ci.pages.dependencies import project

RECORDS = Path(__file__).resolve().parents[1] / "docs" / "platforms.jsonl"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
CORE = "core"
PARTS = (CORE, "fast", "prove", "mine", "live", "docs")
MACOS = "14.0"
SECONDS_MAX = 600
RUNS_AT_ONCE = 4
SOURCE_ONLY = "source only"
NO_INDEX = ("not found in the package registry", "network was disabled")


@dataclass(frozen=True, slots=True)
class Platform:
    """One platform with uv's name for it."""

    name: str
    target: str


PLATFORMS = (
    Platform("Linux x86-64, glibc", "x86_64-manylinux_2_34"),
    Platform("Linux x86-64, musl", "x86_64-unknown-linux-musl"),
    Platform("Linux aarch64, glibc", "aarch64-manylinux_2_34"),
    Platform("Linux aarch64, musl", "aarch64-unknown-linux-musl"),
    Platform("macOS x86-64", "x86_64-apple-darwin"),
    Platform("macOS arm64", "aarch64-apple-darwin"),
    Platform("Windows x86-64", "x86_64-pc-windows-msvc"),
)


class NoAnswerError(RuntimeError):
    """uv failed for a reason other than a missing wheel, for example without a network."""


class _NoSolutionError(RuntimeError):
    """No set of wheels meets the requirements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """One part on one platform with one Python.

    Attributes:
        versions: the resolved distributions, by name.
        source: distributions that exist as source only; the others are resolved without them.
        missing: distributions without a wheel, with the reason; empty if all resolved.
        date: UTC; only files that were uploaded before this day count.
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


def today() -> str:
    """Return the day in UTC: the files of days before it no longer change."""
    return datetime.now(UTC).date().isoformat()


def uv() -> Path:
    """Return the resolver, which the extra ``dev`` installs."""
    return Path(sys.executable).with_name("uv")


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    """Return a folder with settings and a cache for this process alone."""
    home = tempfile.TemporaryDirectory(prefix="paraply-uv-")
    address = os.environ.get("PIP_INDEX_URL") or os.environ.get("UV_DEFAULT_INDEX")
    # Within a run no page of the index is read twice, whatever its server allows.
    (Path(home.name) / "uv.toml").write_text(
        f"[[index]]\nurl = {json.dumps(address or PyPI.simple_url)}\ndefault = true\n"
        'cache-control = { api = "max-age=3600", files = "max-age=3600, immutable" }\n',
        encoding="utf-8",
    )
    return home


def _versions(
    wanted: Sequence[str], platform: Platform, python: str, before: str, *options: str
) -> dict[str, str]:
    """Return the versions that uv resolves, by name.

    Raises:
        _NoSolutionError: no set of wheels meets the requirements.
        NoAnswerError: uv failed for another reason.
    """
    home = Path(_home().name)
    words = [str(uv()), "pip", "compile", "--quiet", "--no-header", "--no-annotate",
             f"--cache-dir={home / 'cache'}", f"--config-file={home / 'uv.toml'}",
             "--only-binary=:all:", "--prerelease=disallow", f"--python={sys.executable}",
             f"--python-version={python}", f"--python-platform={platform.target}",
             f"--exclude-newer={before}T00:00:00Z",
             *options, "-"]  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    done = subprocess.run(
        words, input="\n".join(wanted), capture_output=True, text=True, check=False,
        env={**kept, "MACOSX_DEPLOYMENT_TARGET": MACOS}, timeout=SECONDS_MAX,
    )  # fmt: skip
    if done.returncode == 0:
        pins = [Requirement(line) for line in done.stdout.splitlines()]
        return {_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    if "No solution found" in done.stderr and not any(word in done.stderr for word in NO_INDEX):
        raise _NoSolutionError(done.stderr)
    raise NoAnswerError(done.stderr[-2000:])


@cache
def _alone(requirement: str, platform: Platform, python: str, before: str) -> str | None:
    """Return the version without dependencies: None without a wheel, empty if not needed there."""
    try:
        found = _versions([requirement], platform, python, before, "--no-deps")
    except _NoSolutionError:
        return None
    return found.get(_name(Requirement(requirement).name), "")


@cache
def _newest(name: str, before: str) -> str:
    """Return the newest version with a wheel for some platform and Python; empty if none."""
    cells = ((platform, python) for platform in PLATFORMS for python in PYTHONS)
    found = [one for cell in cells if (one := _alone(name, *cell, before))]
    return max(found, key=Version, default="")


def _reason(name: str, platform: Platform, python: str, before: str) -> str:
    """Return why no wheel of a distribution fits; empty if it has source distributions only."""
    newest = _newest(name, before)
    if not newest:
        return ""
    pin = f"{name}=={newest}"
    is_there = any(_alone(pin, platform, other, before) for other in PYTHONS)
    return f"{newest} has no wheel for {'Python ' + python if is_there else 'the platform'}"


def resolve(platform: Platform, python: str, part: str, before: str) -> Resolution:
    """Return what uv resolves from the files that were uploaded before a day.

    Raises:
        NoAnswerError: uv failed without naming a missing wheel.
    """
    wanted = requirements_of(part)
    # Without these the rest has a solution; one by one, since uv names only one of several.
    unmet = [one for one in wanted if _alone(one, platform, python, before) is None]
    reasons = {_name(Requirement(one).name): "" for one in unmet}
    reasons = {name: _reason(name, platform, python, before) for name in reasons}
    missing = {name: reason for name, reason in reasons.items() if reason}
    rest = [one for one in wanted if one not in unmet]
    versions: dict[str, str] = {}
    try:
        versions = _versions(rest, platform, python, before)
    except _NoSolutionError as error:
        missing |= _of_dependencies(rest, platform, python, before)
        if not missing:
            raise NoAnswerError(str(error)) from error
    return Resolution(
        platform=platform.name, python=python, part=part,
        versions={} if missing else versions,
        source=[name for name, reason in reasons.items() if not reason],
        missing=missing, date=before,
    )  # fmt: skip


def _of_dependencies(
    wanted: Sequence[str], platform: Platform, python: str, before: str
) -> dict[str, str]:
    """Return the dependencies without a wheel, with the reasons."""
    elsewhere: dict[str, str] = {}
    for other in PLATFORMS:
        with suppress(_NoSolutionError):
            elsewhere = _versions(wanted, other, python, before)
            break
    pins = {f"{name}=={version}": name for name, version in elsewhere.items()}
    lacking = [one for one in elsewhere if _alone(one, platform, python, before) is None]
    # Or there are only releases that are too old.
    lacking = lacking or [
        name for pin, name in pins.items() if _alone(pin, platform, python, before) is None
    ]
    return {one: _reason(one, platform, python, before) or SOURCE_ONLY for one in lacking}


def resolve_all(parts: Iterable[str], before: str) -> list[Resolution]:
    """Return the results for all platforms and Python versions, in their fixed order."""
    _home()  # Before the threads, so that there is one.
    cells = [(platform, python, part, before)
             for part in parts for platform in PLATFORMS for python in PYTHONS]  # fmt: skip
    with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        found = list(pool.map(lambda cell: resolve(*cell), cells))
    return sorted(found, key=lambda one: one.key)


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


def differences(before: Iterable[Resolution], now: Iterable[Resolution]) -> list[str]:
    """Return the cells of ``before`` that ``now`` lacks or has with other contents than the day."""
    found = {one.key: replace(one, date="") for one in now}
    return [
        f"{one.part}, {one.platform}, {one.python}: {_shown(one)}; stored, but now "
        f"{_shown(found[one.key]) if one.key in found else 'nothing'}"
        for one in before
        if found.get(one.key) != replace(one, date="")
    ]


def _shown(one: Resolution) -> Mapping[str, str]:
    return one.missing or one.versions


def lost(before: Iterable[Resolution], now: Iterable[Resolution]) -> list[Resolution]:
    """Return the results of ``now`` that no longer resolve."""
    resolved = {one.key for one in before if not one.missing}
    return [one for one in now if one.missing and one.key in resolved]


def check(known: Sequence[Resolution]) -> list[str]:
    """Resolve all again as of the stored days; return the results that are not what uv resolves."""
    days = sorted({one.date for one in known})
    then = [
        one
        for day in days
        for one in resolve_all(sorted({old.part for old in known if old.date == day}), day)
        if one.key in {old.key for old in known if old.date == day}
    ]
    return differences(known, then)


def lost_today(known: Sequence[Resolution]) -> list[str]:
    """Resolve all as of today; return the results that later releases have taken away."""
    return [_lost_line(one) for one in lost(known, resolve_all(PARTS, today()))]


def _lost_line(one: Resolution) -> str:
    return f"no longer resolves: {one.part}, {one.platform}, {one.python}: {one.missing}"


def main(argv: Sequence[str] | None = None) -> int:
    """Resolve and store, or check; exit code 1 if something resolved before and does not now."""
    parser = argparse.ArgumentParser(prog="python -m ci.platforms", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--check", action="store_true", help="compare the stored results, no more")
    options = parser.parse_args(argv)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if options.check:
        faults = check(stored()) + lost_today(stored())
        print("\n".join(faults) or f"as stored: {len(stored())} results")
        return 1 if faults else 0
    now = resolve_all(options.parts or PARTS, today())
    gone = lost(stored(), now)
    store(now)
    for one in gone:
        print(_lost_line(one), file=sys.stderr)
    print(f"{len(now)} results, {sum(not one.missing for one in now)} resolved")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
