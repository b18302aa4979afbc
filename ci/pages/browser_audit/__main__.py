"""Build build/audit.html: ``python -m ci.pages.browser_audit`` (``make browser-audit``).

The page has paraply's wheel, the core's libraries and Pyodide, which npm fetches into a cache.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from jinja2 import Environment

from ci import wheel
from ci.pages.dependencies import closure, project
from paraply.version import VERSION

PYODIDE = "314.0.7"
PYODIDE_SHA256 = "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"
PYODIDE_FILES = (
    "pyodide.js",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
COMPILED = "zstandard"
"""Its replacement lies beside this module; MarkupSafe works without its compiled part."""
HERE = Path(__file__).resolve().parent
OUT = wheel.ROOT / "build" / "audit.html"
POLICY = (
    "default-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'; "
    "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data:"
)
_EPOCH = (1980, 1, 1, 0, 0, 0)


class NotAvailableError(RuntimeError):
    """Pyodide is neither in the cache nor can npm fetch it."""


def pyodide() -> Mapping[str, bytes]:
    """Return Pyodide's files, from the cache if they are there.

    Raises:
        NotAvailableError: npm is missing or failed, or the archive has another checksum.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paraply" / "pyodide"
    archive = cache / f"pyodide-{PYODIDE}.tgz"
    if not archive.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        _fetch(archive)
    packed = archive.read_bytes()
    if hashlib.sha256(packed).hexdigest() != PYODIDE_SHA256:
        raise NotAvailableError(f"{archive} is not pyodide {PYODIDE}: its checksum differs")
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        found = {name: files.extractfile(f"package/{name}") for name in PYODIDE_FILES}
        return {name: file.read() for name, file in found.items() if file is not None}


def _fetch(archive: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotAvailableError("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        words = [npm, "pack", "--silent", f"pyodide@{PYODIDE}"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        fetched = Path(folder) / archive.name
        if done.returncode or not fetched.is_file():
            raise NotAvailableError(f"npm cannot fetch pyodide@{PYODIDE}: {done.stderr[-500:]}")
        shutil.copy(fetched, archive)


def libraries() -> bytes:
    """Return an archive of the Python code of the core's libraries."""
    code = {"zstandard.py": (HERE / "zstandard.py").read_bytes()}
    for name in sorted(closure(project()["dependencies"]) - {COMPILED}):
        distribution = metadata.distribution(name)
        for file in distribution.files or ():
            if file.suffix == ".py" and ".." not in file.parts:
                code[file.as_posix()] = Path(str(distribution.locate_file(file))).read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place in sorted(code):
            archive.writestr(zipfile.ZipInfo(place, _EPOCH), code[place])
    return packed.getvalue()


def page(policy: str = POLICY) -> str:
    """Return the page, with all that it needs inside."""
    with tempfile.TemporaryDirectory() as folder:
        built = wheel.build(wheel.ROOT, Path(folder), wheel.last_change(wheel.ROOT))
        parts = {
            **pyodide(),
            "paraply.whl": built.read_bytes(),
            "libraries.zip": libraries(),
            "run.py": (HERE / "run.py").read_bytes(),
            "worker.js": (HERE / "worker.js").read_bytes(),
        }
    template = Environment(autoescape=False, keep_trailing_newline=True).from_string(
        (HERE / "page.html").read_text(encoding="utf-8")
    )
    return template.render(
        policy=policy,
        version=VERSION,
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        parts={
            name: base64.b64encode(gzip.compress(data, mtime=0)).decode()
            for name, data in parts.items()
        },
    )


def main() -> int:
    """Write the page; exit code 1 if Pyodide cannot be had."""
    try:
        text = page()
    except NotAvailableError as error:
        print(error, file=sys.stderr)
        return 1
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(text, encoding="utf-8")
    print(f"{OUT.relative_to(wheel.ROOT)}: {len(text) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
