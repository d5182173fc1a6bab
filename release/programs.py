"""Run programs, and find the Pythons of this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from release.versions import ROOT
from slotwise.core.errors import SlotwiseError

#: the programs of requirements-release.txt
TOOLS = ROOT / ".venv-release" / "bin"


class ReleaseFault(SlotwiseError):
    """A release that must not be published."""


def run(command: Sequence[str | Path], folder: Path = ROOT, **variables: str) -> str:
    """Run a command to its end and return what it prints; its output is the error if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseFault(f"{' '.join(map(str, command))} exits with {done.returncode}:\n{done.stdout.strip()}")
    return done.stdout


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a child process: those of this one, without its virtual environment and Python settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    # programs of the environment that this Python belongs to are found first
    path = [str(Path(sys.executable).parent), str(TOOLS), inherited.get("PATH", "")]
    inherited["PATH"] = os.pathsep.join(path)
    return {**inherited, **variables}


def supported_versions() -> list[str]:
    """The Pythons that `pyproject.toml` declares, as in 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", entry) for entry in project["classifiers"]]
    return [match[1] for match in found if match]


def find_python(version: str) -> Path | None:
    """A Python of this version: on the path, or one that pyenv has."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    candidates = [Path(on_path)] if on_path else []
    for candidate in [*candidates, *sorted(pyenv.glob(f"{version}.*/bin/python{version}"))]:
        # a shim may be there without the Python that it calls
        asked = subprocess.run([candidate, "-c", "import ssl, sqlite3, venv"], capture_output=True, check=False)
        if asked.returncode == 0:
            return candidate
    return None


def newest_python() -> Path:
    """The newest supported Python of this machine."""
    found = [python for python in map(find_python, reversed(supported_versions())) if python is not None]
    if not found:
        raise ReleaseFault(f"there is no Python {', '.join(supported_versions())} on this machine")
    return found[0]
