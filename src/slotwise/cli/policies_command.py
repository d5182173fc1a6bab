"""`slotwise policies`: the list of policies."""

from __future__ import annotations

import json
import textwrap

from slotwise.cli.shared.command_options import AsJson, example
from slotwise.cli.shared.console import screen
from slotwise.policies import available_policies as registered

LEGEND = """bias: the position bias is given to a policy (known), learned by it (unknown),
      known or unknown by its option bias=known (either),
      or assumed to fall from slot to slot (ordered)
goal: whether it can maximise values instead of clicks, and keep to constraints"""
FIELDS = ("id", "name", "position_bias", "citation", "default", "takes_goal")


@example("slotwise policies --json")
def policies(as_json: AsJson = False) -> None:
    """List the policies that can be simulated and served.

    Position bias is how much more an item is clicked in one slot than in another. Some policies need it from the start
    (known). Others learn it (unknown), can do both (either), or assume that it falls from slot to slot (ordered). A
    policy that takes a goal can maximise values instead of clicks, and keep to constraints.
    """
    if as_json:
        print(json.dumps([{name: getattr(policy, name) for name in FIELDS} for policy in registered()], indent=2))
        return
    rows = [
        (
            f"{policy.id} (default)" if policy.default else policy.id,
            policy.name,
            policy.position_bias,
            "yes" if policy.takes_goal else "no",
        )
        for policy in registered()
    ]
    heads = ("id", "name", "bias", "goal")
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def line(cells: tuple[str, ...]) -> str:
        return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()

    console = screen()
    console.print(line(heads), style="bold")
    for row, policy in zip(rows, registered(), strict=True):
        console.print(line(row))
        for text in textwrap.wrap(policy.citation, max(console.width - 2, 20), break_on_hyphens=False):
            console.print(f"  {text}", style="dim")
    console.print(f"\n{LEGEND}")
