"""``python -m paraply`` and the command ``paraply``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``paraply`` and return its exit code, even if import or reporting fails."""
    # Nothing here multiplies large matrices, and each thread of OpenBLAS takes memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from paraply.cli import main as run

        return run(argv)
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        try:
            what = f"internal error, no verdict (exit code 70): {type(error).__name__}: {error}"
            os.write(2, f"paraply: {what}\n".encode(errors="backslashreplace"))
            if "--debug" in (sys.argv[1:] if argv is None else argv):
                sys.excepthook(type(error), error, error.__traceback__)
        except BaseException:
            return 70
        return 70


if __name__ == "__main__":
    sys.exit(main())
