"""The audit as one page: the command's verdict and JSON, and no request to anywhere."""

import base64
import itertools
import json
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
import zstandard

from ci.demo import overlap_neighbours
from ci.pages.browser_audit.__main__ import POLICY, NotAvailableError, page, pyodide
from tests.browser.chromium import Chromium, binary
from tests.browser.layout import WIDTHS
from tests.browser.test_accessibility import AXE, complaints_now
from tests.browser.test_layout import SCREENSHOTS
from tests.conftest import REPOSITORY

BINLOGS = REPOSITORY / "tests" / "fixtures" / "binlogs"
MYSQL, MARIADB = BINLOGS / "mysql-9.7.4", BINLOGS / "mariadb-10.11.19"
SECONDS_MAX = 120
DROP = """
(() => {
  const dropped = new DataTransfer();
  for (const [name, text] of %s)
    dropped.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
  const event = new DragEvent("drop", {dataTransfer: dropped, bubbles: true, cancelable: true});
  document.body.dispatchEvent(event);
})()
"""
KEEP = """
(() => {
  const make = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (blob) => {
    if (blob.type === "application/json") globalThis.saved = blob;
    return make(blob);
  };
})()
"""
SEND = """
Promise.allSettled([
  fetch("http://example.invalid/fetch"),
  new Promise((done) => {
    const image = new Image();
    image.onload = image.onerror = done;
    image.src = "http://example.invalid/image";
  }),
  new Promise((done) => {
    const code = 'fetch("http://example.invalid/worker").then(postMessage, () => postMessage(1))';
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = worker.onerror = done;
  }),
]).then(() => 1)
"""

PARTS = """
JSON.stringify(["h1", "#drop", "#status", "#command", "#json", "#html", "#report", "#page"]
  .map((name) => [name, document.querySelector(name)])
  .filter(([, one]) => !one.hidden && one.textContent + (one.srcdoc || ""))
  .map(([name, one]) => [name, one.getBoundingClientRect()])
  .filter(([, box]) => box.height)
  .map(([name, box]) => ({name, left: box.left, right: box.right,
                          top: box.top + scrollY, bottom: box.bottom + scrollY})))
"""
SHOWN = {
    "empty": ["h1", "#drop", "#status"],
    "holds": ["h1", "#drop", "#status", "#command", "#json", "#html", "#report", "#page"],
    "unknown": ["h1", "#drop", "#status", "#command", "#json", "#html", "#report", "#page"],
    "error": ["h1", "#drop", "#status", "#command", "#report"],
}

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(binary() is None, reason="no Chromium: ci/servers installs one"),
]


MAKERS = (".google.com", ".googleapis.com", ".gvt1.com")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    try:
        pyodide()
    except NotAvailableError as error:
        pytest.skip(str(error))
    file = tmp_path_factory.mktemp("page") / "audit.html"
    file.write_text(page(), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def asked():
    """Return a proxy's address and the requests that reached it."""
    seen = []

    class Refusing(BaseHTTPRequestHandler):
        def refuse(self):
            # The browser asks its maker for accounts and updates, whatever page is open.
            where = self.path if "://" in self.path else f"//{self.path}"
            if not (urlsplit(where).hostname or "").endswith(MAKERS):
                seen.append(self.path)
            self.send_error(403)

        do_GET = do_POST = do_HEAD = do_OPTIONS = do_CONNECT = refuse  # noqa: N815

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory, asked):
    # All that the browser asks for goes to the proxy, also for this machine.
    switches = (f"--proxy-server={asked[0]}", "--proxy-bypass-list=<-loopback>",
                "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--disable-default-apps")  # fmt: skip
    with Chromium(tmp_path_factory.mktemp("profile"), *switches) as found:
        yield found


@pytest.fixture(scope="module")
def loaded(browser, built):
    browser.errors.clear()
    browser.open(built.as_uri())
    wait(browser, "loading")
    assert browser.text("#status") == "Ready."
    browser.value(KEEP)
    return browser


def wait(browser, state):
    """Wait until the page is no longer in a state."""
    deadline = time.monotonic() + SECONDS_MAX
    while browser.value("document.body.dataset.state") == state:
        assert time.monotonic() < deadline, browser.text("#status")
        time.sleep(0.05)


def drop(browser, *files):
    """Drop files on the page and wait for its verdict; return the JSON that it offers."""
    dropped = [(file.name, base64.b64encode(file.read_bytes()).decode()) for file in files]
    browser.value(DROP % json.dumps(dropped))
    wait(browser, "reading")
    if browser.value("document.querySelector('#json').hidden"):
        return None
    assert "<html" in browser.value("document.querySelector('#page').srcdoc")
    return json.loads(browser.value("saved.text()"))


def command(*words, cwd):
    """Return exit code, JSON and errors of the command in the files' folder."""
    done = subprocess.run(
        [sys.executable, "-m", "paraply", "audit", "--engine", "readable", *words, "--json", "-"],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=SECONDS_MAX,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": ""},
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("folder", "verdict"),
    [
        (MYSQL / "load-full-metadata", "holds"),
        (MYSQL / "compressed", None),
        (MARIADB / "load-minimal-metadata", None),
        (MARIADB / "statements", "unknown"),
        (MARIADB / "compressed", None),
    ],
    ids=lambda one: one.parent.name + "-" + one.name if hasattr(one, "parent") else None,
)
@pytest.mark.parametrize("with_schema", [False, True], ids=["alone", "with a dump"])
def test_verdict_and_json_are_the_commands(loaded, folder, verdict, with_schema):
    log, dump = folder / "bin.000001", folder / "schema.sql"
    found = drop(loaded, log, *([dump] if with_schema else []))
    schema = ["--schema", dump.name] if with_schema else []
    code, expected, _ = command(log.name, *schema, cwd=folder)
    assert found == expected
    assert loaded.text("#command") == f"exit code {code}"
    assert loaded.text("#status") == f"Verdict: {expected['verdict']}"
    if verdict and not with_schema:
        assert expected["verdict"] == verdict
    assert loaded.errors == []


def test_forged_log_is_violated(loaded, tmp_path):
    forged = tmp_path / "forged.000001"
    overlap_neighbours(MYSQL / "load-full-metadata" / "bin.000001", forged)
    found = drop(loaded, forged)
    assert found == command(forged.name, cwd=tmp_path)[1]
    assert loaded.text("#status") == "Verdict: violated"


def test_several_files_are_one_log_in_the_order_of_their_numbers(loaded):
    files = sorted((MYSQL / "rotation").glob("bin.*"))
    found = drop(loaded, *reversed(files))
    assert found == command(*(file.name for file in files), cwd=MYSQL / "rotation")[1]
    assert len(files) > 1


def test_compressed_file_and_a_cut_one(loaded, tmp_path):
    data = (MYSQL / "keys" / "bin.000001").read_bytes()
    packed = zstandard.compress(data[: len(data) // 2]) + zstandard.compress(data[len(data) // 2 :])
    whole, cut = tmp_path / "whole.000001", tmp_path / "cut.000001"
    whole.write_bytes(packed)
    cut.write_bytes(packed[:-50])
    for file in (whole, cut):
        found = drop(loaded, file)
        code, expected, _ = command(file.name, cwd=tmp_path)
        assert found == expected
        assert loaded.text("#command") == f"exit code {code}"


def test_file_that_is_no_log_is_an_error_with_its_code(loaded, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_bytes(b"nothing that a server wrote\n" * 9)
    assert drop(loaded, other) is None
    code, _, complaint = command(other.name, cwd=tmp_path)
    assert code == 3
    assert loaded.text("#command") == "exit code 3"
    assert loaded.text("#status") == "No verdict"
    codes = set(re.findall(r"\bP\d{3}\b", complaint))
    assert codes
    assert set(re.findall(r"\bP\d{3}\b", loaded.text("#report"))) == codes


def test_nothing_is_sent(browser, loaded, asked):
    before = len(asked[1])
    drop(loaded, MYSQL / "keys" / "bin.000001")
    assert asked[1][before:] == []
    # The policy holds also for code that tries to send: of the page and of a worker.
    browser.value(SEND)
    assert asked[1][before:] == []
    browser.errors.clear()


def test_sending_is_noticed_without_the_policy(browser, asked, tmp_path):
    before = len(asked[1])
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><p>any page</p>")
    browser.open(file.as_uri())
    browser.value(SEND)
    sent = {path.rpartition("/")[2] for path in asked[1][before:] if "example.invalid" in path}
    assert sent == {"fetch", "image", "worker"}
    browser.errors.clear()


def test_page_names_none_of_the_hosts_that_the_browser_asks_on_its_own(built):
    text = built.read_text(encoding="utf-8")
    assert not [host for host in MAKERS if host in text]


def test_policy_allows_no_connection(built):
    assert f'content="{POLICY}"' in built.read_text(encoding="utf-8").replace("&#39;", "'")
    assert "connect-src 'none'" in POLICY
    assert "http" not in POLICY


def _dropped(name, *files):
    return pytest.param(files, id=name)


@pytest.fixture(params=WIDTHS)
def sized(request, loaded):
    loaded.resize(request.param, 900)
    yield loaded, request.param
    loaded.resize(1280, 900)


@pytest.mark.long
@pytest.mark.parametrize(
    "files",
    [
        _dropped("empty"),
        _dropped("holds", MYSQL / "load-full-metadata" / "bin.000001"),
        _dropped("unknown", MARIADB / "statements" / "bin.000001"),
        _dropped("error", MYSQL / "load-full-metadata" / "schema.sql"),
    ],
)
def test_page_fits_is_accessible_and_shows_what_it_says(sized, built, request, files):
    browser, width = sized
    if files:
        drop(browser, *files)
    else:
        browser.open(built.as_uri())
        wait(browser, "loading")
        browser.value(KEEP)
    name = request.node.callspec.id.rpartition("-")[2]
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / f"browser-audit-{name}-{width}.png").write_bytes(browser.picture("html"))
    assert browser.value("document.documentElement.scrollWidth") <= width
    boxes = json.loads(browser.value(PARTS))
    assert [one["name"] for one in boxes] == SHOWN[name]
    blocks = [one for one in boxes if one["name"] not in ("#command", "#json", "#html")]
    for before, after in itertools.pairwise(blocks):
        assert before["bottom"] <= after["top"] + 0.5
    inner = browser.value("document.documentElement.clientWidth - 16")
    assert all(16 <= one["left"] and one["right"] <= inner for one in boxes)
    assert browser.value("document.querySelector('#report').scrollWidth") <= inner
    for one in boxes:
        rows = browser.screenshot(one["name"], 0.5)
        paper = max({*rows[0]}, key=rows[0].count)
        assert any(abs(sum(pixel) - sum(paper)) > 60 for row in rows for pixel in row), one
    if AXE.is_file():
        assert complaints_now(browser) == []


@pytest.mark.nightly  # Beside other work Chromium may never paint a frame.
def test_frame_shows_the_page_of_the_report(sized):
    browser, width = sized
    drop(browser, MYSQL / "load-full-metadata" / "bin.000001")
    # Only what is in the window is painted in a frame.
    browser.value("document.querySelector('#page').scrollIntoView()")
    deadline = time.monotonic() + SECONDS_MAX
    colours = set()
    while len(colours) < 9:
        assert time.monotonic() < deadline, colours
        colours = {pixel for row in browser.screenshot("#page")[1:-1] for pixel in row[1:-1]}
    (SCREENSHOTS / f"browser-audit-frame-{width}.png").write_bytes(browser.picture("#page"))
