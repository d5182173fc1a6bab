"""The Python API as Markdown, from signatures and numpydoc docstrings."""

from __future__ import annotations

import inspect
import re
from typing import Any

import slotwise
import slotwise_client
from docs.tools.reference.schema_tables import plain
from slotwise.policies.policy_registry import available_policies
from slotwise.ranker import Ranker
from slotwise.ranker.estimates import Estimates
from slotwise_client import Client

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def public_names() -> str:
    """A section for each public name of `slotwise`, with the methods of the classes that have some."""
    parts = []
    for name in sorted(slotwise.__all__, key=str.lower):
        named = getattr(slotwise, name)
        if not callable(named):
            parts.append(f"## slotwise.{name}\n\nThe value `{named!r}`.")
            continue
        parts.append(_callable(f"slotwise.{name}", named, "##"))
        if named is Ranker:
            parts += _methods(Ranker, "Ranker")
            parts += [_callable("Estimates", Estimates, "###"), *_methods(Estimates, "Estimates")]
    return "\n\n".join(parts)


def client_methods() -> str:
    """The client, its methods, a decision and the errors."""
    parts = [_callable("slotwise_client.Client", Client, "##"), *_methods(Client, "Client")]
    others = [name for name in slotwise_client.__all__ if name != "Client"]
    parts += [_callable(f"slotwise_client.{name}", getattr(slotwise_client, name), "##") for name in others]
    return "\n\n".join(parts)


def policies() -> str:
    """Every policy of the package with its id, its name and its publication."""
    lines = ["| id | name | position bias | from |", "| --- | --- | --- | --- |"]
    for policy in available_policies():
        if not policy.make.__module__.startswith("slotwise."):
            continue
        bias = {"known": "known", "ordered": "in decreasing order"}.get(policy.position_bias, "learned")
        lines.append(f"| `{policy}` | {policy.name} | {bias} | {plain(policy.citation or '')} |")
    return "\n".join(lines)


def _methods(owner: type, name: str) -> list[str]:
    members = [each for each in vars(owner) if not each.startswith("_") and callable(getattr(owner, each))]
    return [_callable(f"{name}.{each}", getattr(owner, each), "###") for each in members]


def _callable(name: str, named: Any, level: str) -> str:
    """A heading, the signature, the text of the docstring and a table of parameters."""
    sections = _sections(named.__doc__)
    parts = [f"{level} {name}", f"```text\n{_signature(name, named)}\n```", sections.pop("", "")]
    titles = [title for title in ("Parameters", "Returns", "Raises", "Attributes") if title in sections]
    parts += [_entries(title, sections[title], _types(named)) for title in titles]
    return "\n\n".join(part for part in parts if part)


def _signature(name: str, named: Any) -> str:
    short = name.rpartition(".")[2] if name.count(".") == 1 and name.startswith("slotwise") else name
    try:
        signature = inspect.signature(getattr(named, "prepare", named))
    except (TypeError, ValueError):
        return f"{short}(…)"
    texts = [
        f"{'*' if each.kind is each.VAR_POSITIONAL else '**' if each.kind is each.VAR_KEYWORD else ''}{each.name}"
        + ("" if each.default is each.empty else f"={each.default!r}" if not _is_marker(each.default) else "=…")
        for each in signature.parameters.values()
        if each.name not in ("self", "cls")
    ]
    return f"{short}({', '.join(texts)})"


def _is_marker(default: object) -> bool:
    return " object at 0x" in repr(default) or type(default).__name__.startswith("_")


def _sections(docstring: str | None) -> dict[str, str]:
    r"""The text before the first section under "", and each section under its title; without examples.

    >>> sorted(_sections("Add.\n\nParameters\n----------\na\n    A term."))
    ['', 'Parameters']
    """
    text = re.split(r"^(?:>>> |Examples\n-{3,}$)", inspect.cleandoc(docstring or ""), flags=re.MULTILINE)[0]
    pieces = _SECTION.split(text)
    sections = {"": _prose(pieces[0].strip())}
    sections.update({title: body.strip("\n") for title, body in zip(pieces[1::2], pieces[2::2], strict=True)})
    return sections


def _prose(text: str) -> str:
    return re.sub(r"(?<!\n)\n(?! |\n|-)", " ", text)


def _types(named: Any) -> dict[str, str]:
    """The annotations of parameters, as they are written."""
    try:
        signature = inspect.signature(getattr(named, "prepare", named))
    except (TypeError, ValueError):
        return {}
    annotations = {each.name: each.annotation for each in signature.parameters.values()}
    return {name: kind for name, kind in annotations.items() if isinstance(kind, str) and kind != "Any"}


def _entries(title: str, body: str, types: dict[str, str]) -> str:
    entries = [entry.partition("\n") for entry in re.split(r"\n(?=\S)", body.strip())]
    if title in ("Returns", "Raises"):
        return f"{title}:\n\n" + "\n".join(f"- `{head.strip()}`: {plain(meaning)}" for head, _, meaning in entries)
    lines = [f"| {title[:-1].lower()} | type | meaning |", "| --- | --- | --- |"]
    for head, _, meaning in entries:
        name, _, kind = head.partition(" : ")
        told = plain(kind) if kind else f"`{plain(types[name.strip()])}`" if name.strip() in types else ""
        lines.append(f"| `{name.strip()}` | {told} | {plain(meaning)} |")
    return "\n".join(lines)
