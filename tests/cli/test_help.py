"""The help of every command, at the width of a terminal."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from slotwise import available_policies
from slotwise.cli.command_app import app_of
from slotwise.cli.shared.log_options import ESTIMATOR_IDS, MAX_PLACEMENTS

GROUP: Any = get_command(app_of())
COMMANDS: dict[str, Any] = GROUP.commands
WIDTH = 80


def help_of(*arguments: str) -> str:
    # None removes a variable, which would set the width
    done = CliRunner().invoke(app_of(), [*arguments, "--help"], env={"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": None})
    assert done.exit_code == 0, done.output
    return done.output


def examples(*name: str) -> list[list[str]]:
    """The commands under Example, as a shell would split them."""
    block = re.search(r"^  Examples?:\n((?:    \S.*\n)+)", help_of(*name), re.MULTILINE)
    assert block is not None, f"{name} has no example"
    return [shlex.split(line) for line in block[1].splitlines()]


@pytest.mark.parametrize("arguments", [(), *((name,) for name in COMMANDS)])
def test_help_reads_well_at_80_columns(arguments: tuple[str, ...]) -> None:
    lines = help_of(*arguments).splitlines()
    assert [line for line in lines if len(line) > WIDTH] == []
    # neither a sentence cut short nor a word or an id cut in two
    assert [line for line in lines[1:] if re.search(r"(\.\.\.|\w-)$", line)] == []
    assert [line for line in lines if re.search(r"(?<!//)…$", line)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    silent = [one.name for one in COMMANDS[name].params if not getattr(one, "help", None)]
    assert silent == []
    said = help_of(name)
    # what to put in, in place of a type of Python's
    assert re.findall(r"^  (?:--)?\S+ <.*>", said, re.MULTILINE) == []
    if "listed above" in said:
        assert re.search(r"^  (Estimators|Studies):$", said, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    assert [page.name for page in pages if re.search(rf"\bslotwise {name}\b", page.read_text())]


@pytest.mark.parametrize("arguments", [(), *((name,) for name in COMMANDS)])
def test_examples_are_commands_that_can_be_given(arguments: tuple[str, ...]) -> None:
    for program, command, *options in examples(*arguments):
        assert (program, command) == ("slotwise", *(arguments or (command,)))
        COMMANDS[command].make_context(command, options).close()


@pytest.mark.parametrize("name", ["policies", "bounds"])
def test_examples_that_take_no_time_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _, *arguments in examples(name):
        done = CliRunner().invoke(app_of(), arguments)
        assert done.exit_code == 0, done.output
        assert done.output


def test_policies_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    lines = CliRunner().invoke(app_of(), ["policies"]).output.splitlines()
    assert [line for line in lines if len(line) > WIDTH or line != line.rstrip()] == []
    # each on a line of its own: id, whether it is the default, name, bias, goal
    for policy in available_policies():
        (found,) = [line for line in lines if re.match(rf"{policy.id}\s", line)]
        assert policy.name in found
        assert found.endswith("yes" if policy.takes_goal else "no")
    shown = " ".join(" ".join(lines).split())
    assert all(policy.citation in shown for policy in available_policies())


def test_listed_estimators_are_those_of_logs() -> None:
    assert ESTIMATOR_IDS == pytest.importorskip("slotwise.logs").ESTIMATOR_NAMES
    assert importlib.import_module("slotwise.logs.fitting.fit_log").MAX_PLACEMENTS == MAX_PLACEMENTS
    models = importlib.import_module("slotwise.logs.evaluation.click_model_fits").CLICK_MODELS
    *most, last = models
    assert f"compare, or {', '.join(most)} or {last}, which" in " ".join(help_of("fit").split())
