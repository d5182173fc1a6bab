from __future__ import annotations

import re
from pathlib import Path

from slotwise import policies, policy
from slotwise.cli.app import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_every_command_is_in_the_readme() -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"slotwise {command.name or command.callback.__name__}" in README


def test_every_policy_that_is_compared_is_in_the_readme() -> None:
    """A new one need not be: one file is all it takes."""
    compared = {entry.id for entry in policies() if entry.legend or entry.also_compared or entry.default}
    twins = {twin for id in compared if (twin := policy(id).twin)}
    assert {id for id in compared | twins if f"`{id}`" not in README} == set()


def test_the_readme_names_no_policy_that_is_not_there() -> None:
    ids = {entry.id for entry in policies()}
    section = README[README.index("## Policies") :].split("\n## ")[0]
    first_cells = " ".join(re.findall(r"^\|([^|]*`[^|]*)\|", section, re.MULTILINE))
    assert set(re.findall(r"`([a-z-]+)`", first_cells)) <= ids


def test_no_two_lists_of_the_layers() -> None:
    """The layers in CONTRIBUTING.md are the folders and files there are."""
    listed = re.search(r"    cli  .*?    errors, typing\n", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert listed is not None
    words = set(re.findall(r"^    ((?:\w+, )*\w+)(?:  |$)", listed.group(), re.MULTILINE))
    named = {name for line in words for name in line.split(", ")}
    source = ROOT / "src" / "slotwise"
    there = {path.stem for path in source.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert named == there - {"__init__"}
