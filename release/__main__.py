"""Build a release into dist/, check it, or set its version."""

from __future__ import annotations

import argparse
import sys

from release import checks
from release.distributions import build_all
from release.installs import check_installs, check_runners, check_source_archive
from release.inventory import write_inventory
from release.versions import set_version
from slotwise.core.errors import SlotwiseError


def main() -> int:
    """Run the command that the arguments name; 1 if the release has a fault."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="wheels, source distributions, npm archive and chart, into an empty dist/")
    commands.add_parser("check", help="check what dist/ holds, install it everywhere, run tests on it")
    commands.add_parser("inventory", help="a bill of materials and all licences, into dist/")
    version = commands.add_parser("version", help="write a version into every file that states it")
    version.add_argument("version")
    arguments = parser.parse_args()
    try:
        if arguments.command == "build":
            print(*(path.name for path in build_all()), sep="\n")
        elif arguments.command == "version":
            set_version(arguments.version)
        elif arguments.command == "inventory":
            print(*write_inventory(), sep="\n")
        else:
            check_release()
    except SlotwiseError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    return 0


def check_release() -> None:
    """Check everything in dist/, and say what was found; the first fault ends it."""
    for check in (
        checks.check_versions,
        checks.check_metadata,
        checks.check_no_registry,
        checks.check_container_file,
        checks.check_chart,
        checks.check_node_package,
        check_source_archive,
    ):
        check()
        print(f"ok: {check.__doc__.splitlines()[0] if check.__doc__ else check.__name__}", flush=True)
    say = lambda text: print(f"ok: {text}", flush=True)  # noqa: E731
    check_runners(say)
    check_installs(say)


if __name__ == "__main__":
    sys.exit(main())
