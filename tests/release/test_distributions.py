"""The files of a release build from their own archives, and the checks reject broken ones."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from release.checks import check_no_registry
from release.distributions import SOURCES, build_distribution, source_archive, wheel
from release.programs import ReleaseFault
from release.versions import ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    for name, source in SOURCES.items():
        build_distribution(name, source, folder)
    return folder


@pytest.mark.parametrize("name", SOURCES)
def test_a_distribution_holds_its_licence_and_its_readme(name: str, built: Path) -> None:
    with zipfile.ZipFile(wheel(name, built)) as packed:
        licences = [packed.read(file).decode() for file in packed.namelist() if file.endswith("LICENSE")]
        (metadata,) = (packed.read(file).decode() for file in packed.namelist() if file.endswith("METADATA"))
    assert licences == [(ROOT / "LICENSE").read_text()]
    assert "Description-Content-Type: text/markdown" in metadata


def test_the_source_archive_holds_what_its_tests_need(built: Path) -> None:
    with tarfile.open(source_archive("slotwise", built)) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "requirements-dev.txt", "tests/conftest.py", "deploy/Containerfile"} <= files
    assert not [file for file in files if file.startswith((".venv", "dist", "results"))]


def test_no_built_file_names_a_registry(built: Path, tmp_path: Path) -> None:
    check_no_registry(built)
    broken = tmp_path / wheel("slotwise_client").name
    shutil.copy(wheel("slotwise_client", built), broken)
    with zipfile.ZipFile(broken, "a") as packed:
        packed.writestr("requirements.txt", "--index-url https:/" + "/index.example/simple/\n")
    with pytest.raises(ReleaseFault, match=r"requirements\.txt names a package registry: https:"):
        check_no_registry(tmp_path)
