"""Fresh recordings on whatever servers are here: their own tools must agree with the decoder."""

from __future__ import annotations

import gzip
import json

import pytest

from ci.binlogs.scenarios import SCENARIOS
from ci.record_binlogs import record
from paraply.adapters.servers import find_mariadb, find_mysql
from paraply.vocabulary.errors import ParaplyError
from tests.builders.beside_twins import assert_decodes_as_printed, decode_logs

pytestmark = [pytest.mark.live, pytest.mark.long(each=1, by_row=True)]

FRESH = ("types", "compressed", "schema-changes", "xa", "statements", "replica", "tags", "domains")
SEED = 20_261_121
"""Not that of the shipped logs, so that other transactions are drawn."""


@pytest.fixture(scope="module", params=[find_mariadb, find_mysql], ids=["mariadb", "mysql"])
def installation(request):
    try:
        found = request.param()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {found.version_text}")
    return found


@pytest.mark.parametrize("name", FRESH)
def test_fresh_recording_decodes_to_what_its_server_prints(installation, tmp_path, name):
    (scenario,) = [scenario for scenario in SCENARIOS if scenario.name == name]
    if installation.flavour not in scenario.flavours:
        pytest.skip(f"{installation.version_text} has no scenario {name}")
    if installation.version < scenario.version_min:
        pytest.skip(f"{installation.version_text} is too old for {name}")
    record(scenario, installation, SEED, tmp_path)
    folder = tmp_path / installation.slug / name
    manifest = json.loads((folder / "manifest.json").read_text())
    files = [entry for log in manifest["logs"].values() for entry in log["files"]]
    assert sum(entry["transactions"] for entry in files) > 0
    for entry in files:
        text = gzip.decompress((folder / "expected" / f"{entry['file']}.txt.gz").read_bytes())
        assert_decodes_as_printed(folder / entry["file"], text)
        assert len(decode_logs(folder / entry["file"])[0]) == entry["transactions"]


def test_scenarios_have_names_of_their_own():
    names = [scenario.name for scenario in SCENARIOS]
    assert len(names) == len(set(names))
    assert set(FRESH) <= set(names)
