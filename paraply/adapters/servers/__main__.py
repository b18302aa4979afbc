"""List the servers found: ``python -m paraply.adapters.servers [--mysql-basedir DIR]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from paraply.adapters.servers.installation import find_mariadb, find_mysql
from paraply.vocabulary.errors import ParaplyError


def main() -> int:
    """Print a line per family; exit 3 without any server."""
    parser = argparse.ArgumentParser(prog="python -m paraply.adapters.servers", description=__doc__)
    parser.add_argument("--mariadb-basedir", type=Path)
    parser.add_argument("--mysql-basedir", type=Path)
    options = parser.parse_args()
    found = 0
    for find, basedir in (
        (find_mariadb, options.mariadb_basedir),
        (find_mysql, options.mysql_basedir),
    ):
        try:
            installation = find(basedir)
            print(f"{installation.version_text}  {installation.server_binary}")
            found += 1
        except ParaplyError as error:
            print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
    return 0 if found else 3


if __name__ == "__main__":
    sys.exit(main())
