"""The client for Node, by its own tests: they start a service with this Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "client" / "node"
OLDEST_NODE = 20
#: what npm says where there is no way to a registry
NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "ENOTCACHED")


def node_version() -> int:
    """0 where there is none, or no npm."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.removeprefix("v").partition(".")[0])


def npm(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SLOTWISE_PYTHON": sys.executable}
    return subprocess.run(["npm", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(node_version() < OLDEST_NODE, reason=f"there is no Node {OLDEST_NODE} or newer with npm")
def test_the_client_for_node_passes_its_own_tests(tmp_path: Path) -> None:
    folder = tmp_path / "node"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "build"))
    installed = npm("ci", folder=folder)
    if installed.returncode and any(code in installed.stderr for code in NO_NETWORK):
        pytest.skip("npm reaches no registry to install TypeScript from")
    assert installed.returncode == 0, installed.stderr
    ran = npm("test", folder=folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((CLIENT / "package-lock.json").read_text())
    for name, package in lock["packages"].items():
        assert "resolved" not in package, name
        assert name == "" or "integrity" in package, name


def test_the_package_is_of_the_same_version_and_needs_nothing_to_run() -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    locked = json.loads((CLIENT / "package-lock.json").read_text())["version"]
    assert package["version"] == locked == version
    assert "dependencies" not in package
    assert all((CLIENT / name).is_file() for name in package["files"])
