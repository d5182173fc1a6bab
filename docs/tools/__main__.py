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
    written = commands.add_parser("reference", help="write the parts of the reference that are generated from the code")
    written.add_argument("--check", action="store_true", help="write nothing; 1 if a page is stale")
    commands.add_parser("prose", help="check the style of pages, help, API descriptions and user interface")
    commands.add_parser("notebooks", help="run the notebooks and store their outputs")
    arguments = parser.parse_args()
    if arguments.command == "notebooks":
        from docs.tools.notebooks import run_notebooks

        print(*run_notebooks(), sep="\n")
        return 0
    if arguments.command == "prose":
        from docs.tools.prose import interface_faults, page_faults

        faults = [*page_faults(), *interface_faults()]
        print(*faults, sep="\n" if faults else "")
        return 1 if faults else 0
    if arguments.command == "reference":
        # imported here: the site is built without slotwise
        from docs.tools.reference import stale_files, write_reference

        stale = stale_files() if arguments.check else write_reference()
        print(*stale, sep="\n")
        return 1 if arguments.check and stale else 0
    return build_site(arguments.folder)


if __name__ == "__main__":
    sys.exit(main())
