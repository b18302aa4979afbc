"""HTML pages of a campaign."""

from __future__ import annotations

import shlex
from pathlib import Path

from paraply.campaigning.files import FOLDER, read_index
from paraply.campaigning.result import judge
from paraply.conforming import child_systems
from paraply.counterexamples.showing.pages import page_of
from paraply.judging import recorded_systems
from paraply.judging.recorded_files import history_in
from paraply.mining.campaign import read_campaign
from paraply.mining.store import DOCUMENT_BYTES_MAX, DiskStore
from paraply.progress import progress as progress_bar
from paraply.reporting.campaign_html import campaign_html
from paraply.reporting.files import make_folder, write_reports

_FILLED = (child_systems, recorded_systems)
"""Imports register kinds of systems."""


def write_campaign_pages(campaign: Path, folder: Path) -> Path:
    """Write the linked pages; return the report.

    Raises ``ParaplyError`` P721, P728, P323 (campaign) or P321 (counterexample).
    """
    progress = read_campaign(str(campaign))
    store = DiskStore(str(campaign))
    filed = read_index(store)
    texts: dict[str, str] = {}
    pages: dict[str, str] = {}
    with progress_bar("making pages", total=len(filed)) as advance:
        for done, entry in enumerate(filed, start=1):
            file = store.readable(f"{FOLDER}/{entry.name}.jsonl", DOCUMENT_BYTES_MAX)
            page = page_of(
                entry.name,
                str(file),
                history_in(file),
                mutant=entry.mutant,
                properties=[entry.prop],
            )
            pages[entry.name] = f"{FOLDER}/{entry.name}.html"
            texts[pages[entry.name]] = page.html
            advance(done)
    report = folder / "index.html"
    texts[report.name] = campaign_html(
        progress,
        judge(progress),
        filed,
        pages,
        command=shlex.join(["paraply", "mine", "--report", str(campaign)]),
    )
    make_folder(str(folder / FOLDER))
    write_reports(str(folder), texts)
    return report
