"""deploy/Containerfile, as far as that goes without a container engine: what it copies, installs and calls is there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from release.checks import check_container_file

ROOT = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    """Each line's instruction and the rest, lines that go on put together."""
    text = (ROOT / "deploy" / "Containerfile").read_text()
    lines = re.sub(r"\\\n\s*", "", "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("#")))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines.splitlines() if line]


def all_of(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """The folder that the image would have, with what is copied into it and nothing else."""
    folder = tmp_path / "image"
    folder.mkdir()
    for copied in all_of("COPY"):
        *sources, target = shlex.split(copied)
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, folder / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, folder / target)
    return folder


def pip(line: str, folder: Path, *more: str) -> None:
    """What the image runs, with this Python."""
    command = shlex.split(line)
    assert command[:4] == ["python", "-m", "pip", "install"], line
    ran = subprocess.run(
        [sys.executable, "-m", "pip", *more, *command[4:]], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_the_image_installs_pinned_requirements_and_builds_from_the_copied_files(image: Path) -> None:
    """Nothing is installed: the requirements are those of this environment, and the package becomes a wheel."""
    pinned, package = [line for line in all_of("RUN") if "pip" in line]
    assert "--require-hashes" in pinned
    pip(pinned, image, "install", "--dry-run", "--quiet", "--disable-pip-version-check")
    pip(package, image, "wheel", "--quiet", "--disable-pip-version-check", "--wheel-dir", str(image / "wheels"))
    wheels = (image / "wheels").iterdir()
    inside = [name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist()]
    assert {
        "slotwise/cli/serve_command.py",
        "slotwise/service/http/templates/base.html",
        "slotwise_client/client.py",
    } <= {*inside}


def test_the_image_starts_a_command_of_the_package() -> None:
    (entry,) = all_of("ENTRYPOINT")
    program, command = json.loads(entry)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert program in project["scripts"]
    assert (ROOT / "src" / "slotwise" / "cli" / f"{command}_command.py").is_file()


def test_the_image_starts_only_with_a_key_and_as_an_unprivileged_user() -> None:
    """On an address that others reach, the service asks for one by itself."""
    settings = dict(setting.split("=", 1) for rest in all_of("ENV") for setting in rest.split())
    assert settings["SLOTWISE_HOST"] == "0.0.0.0"
    assert "SLOTWISE_SERVER_KEY" not in settings
    (user,) = all_of("USER")
    assert int(user) > 0
    # what is kept is below the volume
    (volume,) = all_of("VOLUME")
    assert settings["SLOTWISE_STORE"].startswith(f"sqlite:///{volume}/")
    assert settings["NUMBA_CACHE_DIR"].startswith(f"{volume}/")


def test_its_python_is_one_that_the_package_is_for() -> None:
    (image,) = all_of("FROM")
    version = re.fullmatch(r"python:3\.(\d+)-slim", image)
    assert version is not None
    assert int(version[1]) >= 11
    (probe,) = all_of("HEALTHCHECK")
    program = json.loads(probe[probe.index("[") :])
    assert program[:2] == ["python", "-c"]
    compile(program[2], "HEALTHCHECK", "exec")


def test_hadolint_finds_no_fault() -> None:
    check_container_file()
