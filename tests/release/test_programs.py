from __future__ import annotations

import sys
from pathlib import Path

import pytest

from release.programs import ReleaseFault, environment, find_python, run, supported_versions


def test_a_command_returns_its_output_and_fails_with_it(tmp_path: Path) -> None:
    assert run([sys.executable, "-c", "import os; print(os.environ['A'], os.getcwd())"], tmp_path, A="b") == (
        f"b {tmp_path}\n"
    )
    with pytest.raises(ReleaseFault, match=r"(?s)exits with 3:\nwhy"):
        run([sys.executable, "-c", "print('why'); raise SystemExit(3)"])


def test_a_child_does_not_inherit_the_settings_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("VIRTUAL_ENV", ".venv")
    inherited = environment({"A": "b"})
    assert not {"PYTHONPATH", "VIRTUAL_ENV"} & inherited.keys()
    assert inherited["A"] == "b"


def test_the_python_that_runs_the_tests_is_supported_and_found() -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert version in supported_versions()
    python = find_python(version)
    assert python is not None
    assert run([python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]).strip() == version


def test_a_shim_without_its_python_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = tmp_path / "bin" / "python3.99"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert find_python("3.99") is None
    real = tmp_path / "pyenv" / "versions" / "3.99.1" / "bin" / "python3.99"
    real.parent.mkdir(parents=True)
    real.symlink_to(sys.executable)
    assert find_python("3.99") == real
