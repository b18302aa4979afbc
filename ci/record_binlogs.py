"""Record small binary logs from real servers, with the true data.

python -m ci.record_binlogs [--seed 1] [--only SCENARIO ...] [--flavour mariadb|mysql]

It writes ``tests/fixtures/binlogs/<server-version>/<scenario>/``. The interleaving varies despite
the seed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ci.binlogs import truth
from ci.binlogs.scenarios import SCENARIOS, Scenario, extra_options
from ci.binlogs.session import Session, server_uuid
from paraply.adapters.servers import (
    Flavour,
    Installation,
    Server,
    ServerRoom,
    find_mariadb,
    find_mysql,
)
from paraply.vocabulary.errors import ParaplyError

OUT = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "binlogs"


def record(scenario: Scenario, installation: Installation, seed: int, out: Path) -> int:
    """Record one scenario; return its bytes."""
    folder = out / installation.slug / scenario.name
    shutil.rmtree(folder, ignore_errors=True)
    with ServerRoom() as room:
        options = scenario.server_options(installation.flavour)
        server = room.start(
            installation,
            name="source",
            server_uuid=server_uuid(seed, scenario.name, "source"),
            options=[*options, *extra_options(scenario, room.directory)],
        )
        # What initialisation logged is not part of the scenario.
        server.query("RESET MASTER" if server.is_mariadb else "RESET BINARY LOGS AND GTIDS")
        session = Session(room=room, server=server, scenario=scenario.name, seed=seed)
        scenario.run(session)
        manifest: dict[str, Any] = {
            "scenario": scenario.name,
            "what": scenario.what,
            "server": installation.version_text,
            "options": list(options),
            "seed": seed,
            "record": f"python -m ci.record_binlogs --seed {seed} --only {scenario.name}",
            "crash": scenario.crash,
            "logs": {},
        }
        folder.mkdir(parents=True)
        _keep_node(scenario, server, folder, "source", manifest)
        if session.replica is not None:
            for path in session.relay_logs:
                _keep_log(scenario, installation, path, folder, "relay", manifest)
            _keep_node(scenario, session.replica, folder, "replica", manifest)
    text = json.dumps(manifest, indent=1, sort_keys=True)
    (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _keep_node(
    scenario: Scenario, server: Server, folder: Path, role: str, manifest: dict[str, Any]
) -> None:
    prefix = "" if role == "source" else f"{role}-"
    rows = truth.final_rows(server)
    (folder / f"{prefix}schema.sql").write_text(truth.schema_dump(server), encoding="utf-8")
    text = json.dumps(rows, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    truth.write_gzip(folder / f"{prefix}rows.json.gz", text.encode())
    manifest["logs"][role] = {
        "positions": truth.positions(server),
        "final_rows": {table: len(content["rows"]) for table, content in rows.items()},
        "files": [],
    }
    logs = server.binary_logs()
    if scenario.crash:
        server.kill()
    else:
        server.stop()
    for path in logs:
        _keep_log(scenario, server.installation, path, folder, role, manifest)


def _keep_log(
    scenario: Scenario, installation: Installation, path: Path, folder: Path, role: str,
    manifest: dict[str, Any],
) -> None:  # fmt: skip
    kept = folder / (path.name if role != "replica" else path.name.replace("bin.", "replica-bin."))
    shutil.copyfile(path, kept)
    entry: dict[str, Any] = {"file": kept.name, "bytes": kept.stat().st_size}
    if scenario.readable:
        text = truth.log_text(installation, kept)
        (folder / "expected").mkdir(exist_ok=True)
        truth.write_gzip(folder / "expected" / f"{kept.name}.txt.gz", text)
        entry |= truth.counts(text)
    manifest["logs"].setdefault(role, {"files": []})["files"].append(entry)


def main(arguments: list[str] | None = None) -> int:
    """Record scenarios on every available server."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[], metavar="SCENARIO")
    parser.add_argument("--flavour", choices=[flavour.value.lower() for flavour in Flavour])
    parser.add_argument("--basedir", type=Path, help="of the server of --flavour")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    found = 0
    for find, name in ((find_mariadb, "mariadb"), (find_mysql, "mysql")):
        if options.flavour not in (None, name):
            continue
        try:
            installation = find(options.basedir if options.flavour else None)
        except ParaplyError as error:
            print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
            continue
        found += 1
        for scenario in SCENARIOS:
            if options.only and scenario.name not in options.only:
                continue
            if installation.flavour not in scenario.flavours:
                continue
            if installation.version < scenario.version_min:
                print(f"{installation.slug}/{scenario.name}: needs a newer server")
                continue
            size = record(scenario, installation, options.seed, options.out)
            print(f"{installation.slug}/{scenario.name}: {size} bytes", flush=True)
    return 0 if found else 3


if __name__ == "__main__":
    sys.exit(main())
