from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from slotwise import MNL, policies, simulate
from slotwise.cli.app import app
from slotwise.policies import registry

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_every_command_is_in_the_readme() -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"slotwise {command.name or command.callback.__name__}" in README


def test_every_policy_is_in_the_readme() -> None:
    assert all(f"`{entry.id}`" in README for entry in policies())


def test_the_policy_in_contributing_works_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    file = tmp_path / "round_robin.py"
    file.write_text(code)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    spec = importlib.util.spec_from_file_location("round_robin", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.4, 0.1])
    tally = simulate(users, "round-robin", rounds=300)["round-robin"].tallies[0]
    assert tally.rounds == 300


def test_no_two_lists_of_the_layers() -> None:
    """The layers in CONTRIBUTING.md are the folders and files there are."""
    listed = re.search(r"    cli  .*?    errors, typing\n", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert listed is not None
    words = set(re.findall(r"^    ((?:\w+, )*\w+)(?:  |$)", listed.group(), re.MULTILINE))
    named = {name for line in words for name in line.split(", ")}
    source = ROOT / "src" / "slotwise"
    there = {path.stem for path in source.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert named == there - {"__init__"}
