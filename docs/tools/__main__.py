"""Build the site, write the reference from the code, or check the style of the pages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from docs.tools.site import build_site


def main() -> int:
    """Run the command that the arguments name; 1 if it found a fault."""
    parser = argparse.ArgumentParser(prog="python -m docs.tools", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    site = commands.add_parser("site", help="build the site; warnings are errors")
    site.add_argument("folder", nargs="?", type=Path, default=Path("results/site"))
    arguments = parser.parse_args()
    return build_site(arguments.folder)


if __name__ == "__main__":
    sys.exit(main())
