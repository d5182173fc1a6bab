"""The command line as Markdown, from the commands themselves."""

from __future__ import annotations

import inspect
from typing import Any

from typer.main import get_command

from docs.tools.reference.schema_tables import plain
from slotwise.cli.command_app import COMMANDS, app_of


def commands() -> str:
    """A section for each command: its help, arguments and options."""
    group: Any = get_command(app_of(COMMANDS))
    return "\n\n".join(_section(name, command) for name, command in group.commands.items())


def _section(name: str, command: Any) -> str:
    text, _, examples = inspect.cleandoc(command.help or "").replace("\b\n", "").partition("Examples:")
    text, _, example = text.partition("Example:") if not examples else (text, "", "")
    parts = [f"## slotwise {name}", text.strip()]
    lines = [line.strip() for line in (examples or example).splitlines() if line.strip()]
    if lines:
        parts.append("\n".join(f"    {line}" for line in lines))
    rows = [row for parameter in command.params if (row := _row(parameter))]
    if rows:
        parts.append("\n".join(["| argument or option | default | meaning |", "| --- | --- | --- |", *rows]))
    return "\n\n".join(parts)


def _row(parameter: Any) -> str | None:
    if getattr(parameter, "hidden", False) or parameter.name == "help":
        return None
    if parameter.param_type_name == "argument":
        flags = f"`{(parameter.metavar or parameter.name).strip('{}').upper()}`"
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
        takes = "" if parameter.is_flag else f" {parameter.metavar or 'TEXT'}"
        flags = " / ".join(f"`{name}{takes}`" for name in names)
    default = (
        "required" if parameter.required else "" if parameter.default in (None, False) else f"`{parameter.default}`"
    )
    return f"| {flags} | {default} | {plain(parameter.help or '')} |"
