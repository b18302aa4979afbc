"""``python -m tests.builders.show_report SITUATION``: a built result in one form of report."""

from __future__ import annotations

import argparse
import sys

from paraply.reporting.audit.json_form import render_json
from paraply.reporting.audit.sarif import render_sarif
from paraply.reporting.html import render_html
from paraply.reporting.junit import render_junit
from paraply.reporting.terminal import render_terminal
from tests.builders.audit_situations import EVERY_SITUATION


def main(argv=None):
    parser = argparse.ArgumentParser(prog="show_report", description=__doc__)
    parser.add_argument("situation", choices=EVERY_SITUATION)
    parser.add_argument(
        "--form", choices=("terminal", "json", "junit", "sarif", "html"), default="terminal"
    )
    parser.add_argument("--width", type=int, default=80)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--colour", action="store_true")
    parser.add_argument("--strict", action="store_true")
    arguments = parser.parse_args(argv)
    result = EVERY_SITUATION[arguments.situation]()
    forms = {
        "terminal": lambda: render_terminal(
            result,
            width=arguments.width,
            colour=arguments.colour,
            plain=arguments.plain,
            details=not arguments.summary,
        ),
        "json": lambda: render_json(result),
        "junit": lambda: render_junit(result, strict=arguments.strict),
        "sarif": lambda: render_sarif(result),
        "html": lambda: render_html(result),
    }
    sys.stdout.write(forms[arguments.form]())
    return 0


if __name__ == "__main__":
    sys.exit(main())
