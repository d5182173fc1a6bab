"""Snapshots of the public interface: `python -m tests.snapshots` writes them, tests/test_snapshots.py compares them.

A snapshot holds names, types and numbers, and no prose, so that a sentence may change and an interface may not.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from typer.main import get_command

from slotwise import simulate
from slotwise.cli.command_app import COMMANDS, app_of
from slotwise.environments import paper_problems
from slotwise.jit import interpreted
from tests.commands import slotwise
from tests.registered_components import variants
from tests.service.serving import serving

FOLDER = Path(__file__).parent
PROSE = {"description", "title", "summary", "example", "examples", "info"}
EXAMPLES = {
    "policies": ["policies", "--json"],
    "bounds": ["bounds", "--problem", "a", "--json"],
    "simulate": ["simulate", "--problem", "b", "--policy", "epoch-ucb", "--rounds", "300", "--seed", "5", "--json"],
    "fit": ["fit", "clicks.csv", "--json"],
    "evaluate": ["evaluate", "clicks.csv", "--ranking", '["0", "1", "2"]', "--json"],
}


def openapi() -> Any:
    """Paths, parameters, bodies and schemas of `/openapi.json`, without prose."""
    with tempfile.TemporaryDirectory() as folder, serving(f"sqlite:///{folder}/store.db") as client:
        return _without_prose(client.get("/openapi.json").json())


def _without_prose(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_prose(item) for key, item in value.items() if key not in PROSE or key == "properties"}
    return [_without_prose(item) for item in value] if isinstance(value, list) else value


def options() -> Any:
    """The names, types and defaults of every command's options."""
    commands: Any = get_command(app_of(COMMANDS))
    return {
        name: {
            parameter.name: {
                "flags": [*parameter.opts, *parameter.secondary_opts],
                "type": str(parameter.type_descriptor.annotation),
                "default": repr(parameter.default),
                "required": parameter.required,
                "many": parameter.multiple or parameter.nargs != 1,
            }
            for parameter in command.params
        }
        for name, command in commands.commands.items()
    }


def json_output() -> Any:
    """The output of commands with `--json`, on a small synthetic log, to nine digits."""
    with tempfile.TemporaryDirectory() as folder, interpreted():
        write_log(Path(folder) / "clicks.csv")
        return {name: _rounded(json.loads(_run(example, Path(folder)))) for name, example in EXAMPLES.items()}


def _run(arguments: list[str], folder: Path) -> str:
    result = slotwise(*arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    return result.stdout


def write_log(path: Path) -> None:
    """2,000 impressions of three slots and five items with known attractiveness and bias."""
    rng = np.random.default_rng(20)
    bias, attractiveness = np.array([1.0, 0.6, 0.4]), np.array([0.5, 0.3, 0.2, 0.4, 0.1])
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["impression", "slot", "item", "clicked"])
        for impression in range(2_000):
            ranking = rng.permutation(5)[:3]
            odds = np.array([*bias * attractiveness[ranking], 1.0])
            clicked = rng.choice(4, p=odds / odds.sum())
            rows.writerows((impression, slot + 1, item, int(slot == clicked)) for slot, item in enumerate(ranking))


def regret() -> Any:
    """Final regret of every policy on a problem of the paper and, for those that can, in a changing environment."""
    from research.changing_pages.random_worlds import random_changing_problem

    world = random_changing_problem(np.random.default_rng(6))
    digests = {}
    with interpreted():
        for variant in variants():
            results = simulate(paper_problems()["b"].users, [variant], rounds=150, replications=1, seed=9)
            digests[str(variant)] = _rounded(next(iter(results.values())).mean)
        for id in ("thompson-sampling", "thompson-sampling:half_life=auto"):
            results = simulate(world.users, [id], rounds=300, replications=1, seed=9)
            digests[f"{id} (changing)"] = _rounded(next(iter(results.values())).mean)
    return digests


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items() if key != "seconds"}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, str) and " " in value:
        return "(text)"
    return float(f"{value:.9g}") if isinstance(value, float) else value


SNAPSHOTS: dict[str, Callable[[], Any]] = {
    "openapi": openapi,
    "options": options,
    "json_output": json_output,
    "regret": regret,
}
