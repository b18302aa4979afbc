"""A headless Chromium that is told what to do over its debugging pipe; no driver, no network."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import struct
import subprocess
import time
import zlib
from contextlib import suppress

BINARIES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TIMEOUT_S = 300.0


def binary():
    """Return the path of a Chromium, None where there is none."""
    return next((path for path in map(shutil.which, BINARIES) if path), None)


class Chromium:
    """One browser with one page; use it as a context manager.

    ``errors`` holds what the page complained of: exceptions and console errors. ``switches`` are
    further ones of the browser.
    """

    def __init__(self, folder, *switches):
        self.errors = []
        self._numbers = itertools.count(1)
        self._pending = b""
        # The browser reads commands on its descriptor 3 and writes what it says on 4.
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()

        def place_pipes():
            first, second = os.dup(their_in), os.dup(their_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [binary(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--window-size=1400,1000", "--no-first-run", f"--user-data-dir={folder}",
             *switches, "about:blank"],
            preexec_fn=place_pipes, close_fds=False, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(their_in)
        os.close(their_out)
        self._session = ""
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self._ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        with suppress(Exception):
            self._ask("Browser.close")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def open(self, url):
        """Load a page from the start and wait until its scripts have run."""
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=url)
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            if (
                self.value("location.href") == url
                and self.value("document.readyState") == "complete"
            ):
                return
            time.sleep(0.02)
        raise TimeoutError(url)

    def value(self, expression):
        """Return what an expression is in the page."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)  # fmt: skip
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def text(self, selector):
        """Return the text of the first element that a selector finds."""
        return self.value(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector):
        """Click the first element that a selector finds."""
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key):
        """Press a key where the focus is."""
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def type(self, text):
        """Enter a text where the focus is."""
        self._ask("Input.insertText", text=text)

    def resize(self, width, height, *, is_dark=False):
        """Give the page this size in pixels, and say which colours its reader prefers."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, selector, scale=0.25):
        """Return the pixels of an element as rows of (red, green, blue)."""
        return pixels_of(self.picture(selector, scale))

    def picture(self, selector, scale=1):
        """Return an element as a PNG."""
        box = self.value(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [box.x + scrollX, box.y + scrollY, box.width,"
            " box.height]; })()"
        )
        clip = dict(zip(("x", "y", "width", "height"), box, strict=True), scale=scale)
        answer = self._ask("Page.captureScreenshot", format="png", clip=clip,
                           captureBeyondViewport=True)  # fmt: skip
        return base64.b64decode(answer["data"])

    def _ask(self, method, **params):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            said = self._next()
            if said.get("id") == number:
                if "error" in said:
                    raise AssertionError(f"{method}: {said['error']}")
                return said["result"]
            self._on_event(said)

    def _on_event(self, said):
        method, params = said.get("method"), said.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(
                f"{params['entry']['text']} {params['entry'].get('url', '')}".strip()
            )
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(str(params["args"]))

    def _next(self):
        deadline = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            chunk = os.read(self._in, 1 << 16)
            if not chunk:
                raise EOFError("the browser ended")
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\0")
        return json.loads(line)


def pixels_of(png):
    """Return the pixels of a PNG of 8 bits per channel as rows of (red, green, blue)."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    place, packed, width, channels = 8, b"", 0, 3
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += body
        place += length + 12
    data, step = zlib.decompress(packed), width * channels
    rows, above = [], bytearray(step)
    for start in range(0, len(data), step + 1):
        above = _unfiltered(
            data[start], bytearray(data[start + 1 : start + 1 + step]), above, channels
        )
        rows.append([tuple(above[at : at + 3]) for at in range(0, step, channels)])
    return rows


def _unfiltered(kind, line, above, channels):
    for at in range(len(line)):
        left = line[at - channels] if at >= channels else 0
        corner = above[at - channels] if at >= channels else 0
        guess = (0, left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))[kind]
        line[at] = (line[at] + guess) & 255
    return line


def _paeth(left, above, corner):
    return min((left, above, corner), key=lambda one: abs(left + above - corner - one))
