"""The version of the project: `pyproject.toml` has it, and other files repeat it."""

from __future__ import annotations

import re
from pathlib import Path

from slotwise.core.errors import InvalidInput

ROOT = Path(__file__).parents[1]
CHART = "deploy/helm/slotwise/Chart.yaml"
_TOML = r'^(version = ")([^"]+)'
#: each file with the patterns of the places that hold the version; the second group is the version
PLACES: dict[str, tuple[str, ...]] = {
    "pyproject.toml": (_TOML,),
    "client/python/pyproject.toml": (_TOML,),
    "client/node/package.json": (r'^(  "version": ")([^"]+)',),
    "client/node/package-lock.json": (r'^(  "version": ")([^"]+)', r'^(      "version": ")([^"]+)'),
    "CITATION.cff": (r"^(version: )(\S+)",),
    CHART: (r"^(version: )(\S+)", r"^(appVersion: )(\S+)"),
    "README.md": (r"(, version )(\d+\.\d+\.\d+\w*)",),
    "CHANGELOG.md": (r"^(## )(\d\S*)",),
}


def project_version(root: Path = ROOT) -> str:
    """The version in `pyproject.toml`."""
    return stated_versions(root)["pyproject.toml"][0]


def stated_versions(root: Path = ROOT) -> dict[str, list[str]]:
    """The versions that each file states: the first match of each of its patterns."""
    stated = {}
    for file, patterns in PLACES.items():
        text = (root / file).read_text()
        found = [re.search(pattern, text, re.MULTILINE) for pattern in patterns]
        missing = [pattern for pattern, match in zip(patterns, found, strict=True) if match is None]
        if missing:
            raise InvalidInput(f"{file} states no version: nothing matches {missing[0]}")
        stated[file] = [match[2] for match in found if match]
    return stated


def set_version(version: str, root: Path = ROOT) -> None:
    """Write a version into every file that states it; the changelog's newest section gets it too."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        raise InvalidInput(f"version must be as in 1.2.3 or 1.2.3rc1, got {version!r}")
    for file, patterns in PLACES.items():
        text = (root / file).read_text()
        for pattern in patterns:
            text = re.sub(pattern, rf"\g<1>{version}", text, count=1, flags=re.MULTILINE)
        (root / file).write_text(text)
