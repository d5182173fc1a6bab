"""Options that several commands have, and decorators for help texts."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

from slotwise.core.errors import MissingExtra
from slotwise.environments.catalog import OTHER_USERS

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Threads; -1 for one per core.")]
ProblemName = Annotated[
    str,
    typer.Option(
        "--problem",
        metavar="NAME",
        help=f"a, b or c of the paper, one of d to k, shop, {', '.join(OTHER_USERS)}, or FILE.json.",
    ),
]
#: for commands whose users choose by multinomial logit
LogitProblemName = Annotated[
    str, typer.Option("--problem", metavar="NAME", help="a, b or c of the paper, one of d to k, or FILE.json.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="URL",
        help="Run on a cluster: dask://HOST:PORT or ray://HOST:PORT. The numbers are the same.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed gives the same numbers.")]

#: marks a paragraph whose line breaks help keeps
AS_IT_IS = "\b\n"
WIDTH = 78


def example(*lines: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add examples to the help of a command."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        heading = "Example:" if len(lines) == 1 else "Examples:"
        return _say(command, "\n".join([heading, *(f"  {line}" for line in lines)]))

    return add


def known_ids(what: str, ids: Iterable[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """List the ids that an option takes in the help of a command; ids are not broken at hyphens."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        listed = textwrap.wrap(", ".join(ids), WIDTH - 4, break_on_hyphens=False)
        return _say(command, "\n".join([f"{what}:", *(f"  {line}" for line in listed)]))

    return add


def _say(command: Callable[..., None], block: str) -> Callable[..., None]:
    command.__doc__ = f"{inspect.getdoc(command)}\n\n{AS_IT_IS}{block}"
    return command


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the fields of a dataclass argument into options of the command."""
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in records:
            types = get_type_hints(records[name], include_extras=True)
            parameters += [_parameter(option, types[option.name]) for option in fields(records[name])]
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, record in records.items():
            given[name] = record(**{option.name: given.pop(option.name) for option in fields(record)})
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(option: Field[Any], annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if option.default is MISSING else option.default
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


StoreUrl = Annotated[
    str,
    typer.Option("--store", metavar="URL", envvar="SLOTWISE_STORE", help="sqlite:///FILE or postgresql://…"),
]


@contextmanager
def needing_the_service() -> Iterator[None]:
    """Raise an error that names the missing extra, if an import in the block fails."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("slotwise"):
            raise
        raise MissingExtra("the service", "serve") from None
