"""`slotwise policies`: what can be simulated."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from slotwise.policies import policies as registered


def policies(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array and nothing else.")] = False,
) -> None:
    """List the registered policies."""
    if as_json:
        fields = ("id", "name", "position_bias", "citation", "default", "takes_goal")
        print(json.dumps([{name: getattr(policy, name) for name in fields} for policy in registered()], indent=2))
        return
    # whatever the width of the terminal, an id is there to be copied
    id = Column("id", no_wrap=True)
    table = Table(id, "name", "position bias", "goal", "citation", box=None, header_style="bold")
    for policy in registered():
        marked = f"{policy.id} (default)" if policy.default else policy.id
        table.add_row(marked, policy.name, policy.position_bias, "yes" if policy.takes_goal else "no", policy.citation)
    Console().print(table)
