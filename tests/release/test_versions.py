from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from release.versions import PLACES, ROOT, project_version, set_version, stated_versions
from slotwise import __version__
from slotwise.core.errors import InvalidInput


def test_every_file_states_the_version_of_the_project() -> None:
    assert {version for versions in stated_versions().values() for version in versions} == {project_version()}
    assert __version__ == project_version()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The files that state a version, in another folder."""
    for file in PLACES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def test_a_version_is_set_in_every_place_and_nowhere_else(copied: Path) -> None:
    set_version("7.8.9", copied)
    assert {version for versions in stated_versions(copied).values() for version in versions} == {"7.8.9"}
    set_version(project_version(), copied)
    assert all((copied / file).read_text() == (ROOT / file).read_text() for file in PLACES)


def test_a_file_that_was_forgotten_is_seen(copied: Path) -> None:
    citation = copied / "CITATION.cff"
    citation.write_text(citation.read_text().replace(f"version: {project_version()}", "version: 0.0.9"))
    assert stated_versions(copied)["CITATION.cff"] == ["0.0.9"]
    citation.write_text("title: slotwise\n")
    with pytest.raises(InvalidInput, match=r"CITATION\.cff states no version"):
        stated_versions(copied)


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "1.0.0-rc1", ""])
def test_a_version_is_three_numbers(version: str, copied: Path) -> None:
    with pytest.raises(InvalidInput, match=r"version must be as in 1\.2\.3"):
        set_version(version, copied)
