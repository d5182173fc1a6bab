"""What importing slotwise needs, and the distribution that is its client alone."""

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


def test_every_name_is_what_its_module_has_whatever_was_imported_before() -> None:
    script = """
import slotwise.simulation.runner, slotwise.policies.policy_registry, slotwise
from slotwise import *
print(callable(policies), callable(simulate), set(slotwise.__all__) <= set(dir(slotwise)))
print(all(getattr(slotwise, name) is globals()[name] for name in slotwise.__all__))
"""
    assert _run(_with(SOURCES, script)).split() == ["True"] * 4


def test_the_client_needs_nothing_but_the_standard_library() -> None:
    script = """
import builtins, sys
class Refuse:
    def find_spec(self, name, *_):
        assert name.partition(".")[0] not in ("numpy", "numba", "scipy", "joblib"), name
sys.meta_path.insert(0, Refuse())
import slotwise.client
print(*sorted(name for name in sys.modules if name.startswith("slotwise")))
"""
    assert {name.partition(".")[2].partition(".")[0] for name in _run(_with(SOURCES, script)).split()} == {
        "",
        "client",
        "errors",
    }


def test_a_ranker_does_not_import_what_only_simulations_and_estimates_need() -> None:
    script = "from slotwise import Ranker; print({'joblib', 'scipy.sparse', 'scipy.optimize'} & set(sys.modules))"
    assert _run(_with(SOURCES, script)) == "set()"


def test_a_command_does_not_import_what_only_tables_need() -> None:
    script = (
        "from slotwise.cli.command_app import app_of; app_of(); "
        "print({'scipy.stats', 'scipy.optimize', 'pandas', 'matplotlib'} & set(sys.modules))"
    )
    assert _run(_with(SOURCES, script)) == "set()"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[PurePosixPath]:
    """The files in the wheel of the package."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    with zipfile.ZipFile(folder / _run(build, cwd=ROOT).splitlines()[-1]) as packed:
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
def client_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of the client in it, unpacked."""
    folder = tmp_path_factory.mktemp("client")
    build = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    wheel = folder / _run(build, cwd=ROOT / "client").splitlines()[-1]
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def test_the_client_is_a_distribution_of_its_own_in_step_with_the_package(client_alone: Path) -> None:
    assert sorted(path.name for path in (client_alone / "slotwise").iterdir()) == [
        "__init__.py",
        "client",
        "errors.py",
        "py.typed",
    ]
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (metadata,) = client_alone.glob("*.dist-info/METADATA")
    lines = metadata.read_text().splitlines()
    assert f"Version: {project['version']}" in lines
    assert f"Requires-Python: {project['requires-python']}" in lines
    assert not any(line.startswith("Requires-Dist") for line in lines)


def test_the_client_works_alone_and_says_what_to_install_for_more(client_alone: Path) -> None:
    script = """
from slotwise.client import Client
from slotwise.core.errors import ServiceUnreachable
try:
    Client("http://127.0.0.1:9", retries=0).placements()
except ServiceUnreachable as problem:
    print(problem)
try:
    from slotwise import Ranker
except ImportError as problem:
    print(problem)
"""
    # without the packages of this environment
    said = _run(_with(str(client_alone), script), "-I", "-S").splitlines()
    assert said[0].startswith("http://127.0.0.1:9 cannot be reached")
    assert said[1] == (
        "slotwise.Ranker needs more than slotwise's client, and there is no slotwise.ranker: pip install slotwise"
    )


def _pinned(file: str) -> set[str]:
    """Each requirement with its hashes."""
    return {*re.split(r"\n(?=\S)", (ROOT / file).read_text().strip())}


def test_what_is_installed_first_is_pinned_as_it_is_for_running_and_for_developing() -> None:
    core, run, develop = (_pinned(f"requirements{kind}.txt") for kind in ("-core", "", "-dev"))
    assert core < run < develop
