"""The files of a release: wheels, source distributions, the packages for npm and Helm."""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from release.programs import ReleaseFault, run
from release.versions import ROOT, project_version

DIST = ROOT / "dist"
CHART = ROOT / "deploy" / "helm" / "slotwise"
NODE = ROOT / "client" / "node"
SOURCES = {"slotwise": ROOT, "slotwise_client": ROOT / "client" / "python"}


def wheel(name: str, folder: Path = DIST) -> Path:
    """The wheel of a distribution in a folder of built files."""
    return folder / f"{name}-{project_version()}-py3-none-any.whl"


def source_archive(name: str, folder: Path = DIST) -> Path:
    """The source distribution of a distribution in a folder of built files."""
    return folder / f"{name}-{project_version()}.tar.gz"


def build_all(folder: Path = DIST) -> list[Path]:
    """Build every file of a release into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, source in SOURCES.items():
        build_distribution(name, source, folder)
    run(["npm", "pack", "--silent", "--pack-destination", folder], NODE)
    run(["helm", "package", CHART, "--destination", folder])
    return sorted(folder.iterdir())


def build_distribution(name: str, source: Path, folder: Path) -> None:
    """Build the source distribution, and from it alone the wheel: so the archive is known to be complete."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder], source)
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(source_archive(name, folder)) as archive:
            archive.extractall(unpacked, filter="data")
        (inside,) = Path(unpacked).iterdir()
        run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], inside)
    if not wheel(name, folder).is_file():
        raise ReleaseFault(f"{source} does not build {wheel(name, folder).name}: the versions of its files differ")


def npm_archive(folder: Path = DIST) -> Path:
    """The packed client for Node."""
    package = json.loads((NODE / "package.json").read_text())
    return folder / f"{package['name']}-{package['version']}.tgz"
