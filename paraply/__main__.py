"""``python -m paraply`` and the command ``paraply``."""

from __future__ import annotations

import sys

from paraply.cli import main

if __name__ == "__main__":
    sys.exit(main())
