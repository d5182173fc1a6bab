from __future__ import annotations

import json

from typer.testing import CliRunner

from slotwise import available_policies
from slotwise.cli.command_app import app_of


def _slotwise(*arguments: str) -> str:
    done = CliRunner().invoke(app_of(), arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_policies() -> None:
    listed = json.loads(_slotwise("policies", "--json"))
    assert [entry["id"] for entry in listed] == [entry.id for entry in available_policies()]
    assert all(set(entry) == {"id", "name", "position_bias", "citation", "default", "takes_goal"} for entry in listed)
    assert {entry["position_bias"] for entry in listed} == {"known", "unknown", "either", "ordered"}
    table = _slotwise("policies")
    assert all(entry.id in table for entry in available_policies())
