"""The imports of slotwise, and the files of its two distributions."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import slotwise

ROOT = Path(__file__).parents[1]
SOURCES = str(Path(slotwise.__file__).parents[1])


def _run(script: str, *options: str, cwd: Path | None = None) -> str:
    done = subprocess.run([sys.executable, *options, "-c", script], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _with(path: str, script: str) -> str:
    return f"import sys\nsys.path.insert(0, {path!r})\n{script}"


def test_every_name_is_its_modules_in_any_order_of_imports() -> None:
    script = """
import slotwise.simulation.runner, slotwise.policies.policy_registry, slotwise
from slotwise import *
print(callable(available_policies), callable(simulate), set(slotwise.__all__) <= set(dir(slotwise)))
print(all(getattr(slotwise, name) is globals()[name] for name in slotwise.__all__))
"""
    assert _run(_with(SOURCES, script)).split() == ["True"] * 4


def test_a_ranker_does_not_import_simulation_dependencies() -> None:
    script = "from slotwise import Ranker; print({'joblib', 'scipy.sparse', 'scipy.optimize'} & set(sys.modules))"
    assert _run(_with(SOURCES, script)) == "set()"


def test_a_command_does_not_import_table_dependencies() -> None:
    script = (
        "from slotwise.cli.command_app import app_of; app_of(); "
        "print({'scipy.stats', 'scipy.optimize', 'pandas', 'matplotlib'} & set(sys.modules))"
    )
    assert _run(_with(SOURCES, script)) == "set()"


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert slotwise.__version__ == project["version"]
    with pytest.raises(AttributeError, match="module 'slotwise' has no attribute 'policies_of_old'"):
        slotwise.policies_of_old  # noqa: B018


def _build(source: Path, folder: Path) -> zipfile.ZipFile:
    """The wheel of a distribution."""
    build = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    return zipfile.ZipFile(folder / _run(build, cwd=source).splitlines()[-1])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[PurePosixPath]:
    """The files in the wheel of the package."""
    with _build(ROOT, tmp_path_factory.mktemp("wheel")) as packed:
        return [PurePosixPath(name) for name in packed.namelist()]


def test_the_wheel_holds_the_package_and_nothing_else(wheel: list[PurePosixPath]) -> None:
    sources = ROOT / "src"
    files = {path.relative_to(sources).as_posix() for path in (sources / "slotwise").rglob("*") if path.is_file()}
    expected = {file for file in files if "__pycache__" not in file}
    assert {str(file) for file in wheel if not file.parts[0].endswith(".dist-info")} == expected


def test_every_folder_of_the_wheel_is_a_layer(wheel: list[PurePosixPath]) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {name.strip() for layer in contracts[0]["layers"] for name in layer.split("|")}
    folders = {file.parts[1].removesuffix(".py") for file in wheel if file.parts[0] == "slotwise"}
    assert folders == layers | {"__init__", "py.typed"}
    assert not {"research", "tests", "benchmarks"} & {part for file in wheel for part in file.parts}


@pytest.fixture(scope="module")
def client_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel of the client."""
    folder = tmp_path_factory.mktemp("client")
    with _build(ROOT / "client" / "python", folder) as packed:
        packed.extractall(folder / "installed")
    return folder / "installed"


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_two_distributions_have_no_file_in_common(wheel: list[PurePosixPath], client_folder: Path) -> None:
    assert {file.partition("/")[0] for file in _files(client_folder)} >= {"slotwise_client"}
    assert _files(client_folder).isdisjoint(map(str, wheel))


def test_the_client_has_the_version_of_the_package_and_no_dependencies(client_folder: Path) -> None:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (metadata,) = client_folder.glob("*.dist-info/METADATA")
    lines = metadata.read_text().splitlines()
    assert f"Version: {project['version']}" in lines
    assert f"Requires-Python: {project['requires-python']}" in lines
    assert not any(line.startswith("Requires-Dist") for line in lines)


def test_the_client_works_without_slotwise(client_folder: Path) -> None:
    script = """
from slotwise_client import Client, ServiceUnreachable
try:
    Client("http://127.0.0.1:9", retries=0).placements()
except ServiceUnreachable as error:
    print(error)
print(*(name for name in sys.modules if name.partition(".")[0] == "slotwise"))
"""
    # without the packages of this environment
    error, *modules = _run(_with(str(client_folder), script), "-I", "-S").splitlines()
    assert error.startswith("http://127.0.0.1:9 cannot be reached")
    assert modules == []


def test_slotwise_works_without_the_client() -> None:
    script = """
class Hide:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "slotwise_client":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Hide())
import slotwise
print(slotwise.Tally.__name__)
try:
    import slotwise.client
except ImportError as error:
    print(error)
"""
    assert _run(_with(SOURCES, script)).splitlines() == [
        "Tally",
        "slotwise.client needs the package slotwise-client: pip install slotwise-client",
    ]


def _pinned(file: str) -> set[str]:
    """Each requirement with its hashes."""
    return {*re.split(r"\n(?=\S)", (ROOT / file).read_text().strip())}


def test_core_requirements_have_the_pins_of_the_other_files() -> None:
    core, run, develop = (_pinned(f"requirements{kind}.txt") for kind in ("-core", "", "-dev"))
    assert core < run < develop
