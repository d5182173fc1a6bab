"""The JavaScript API as Markdown, from the types of the Node client."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.tools.reference.schema_tables import plain
from docs.tools.site import ROOT


def node_client() -> str:
    """The methods of the client, each with its description, and the types that it exports."""
    source = (ROOT / "client" / "node" / "client.d.ts").read_text()
    parts = ["## Errors"]
    client, types = "", []
    for comment, code in declarations(source.splitlines()):
        if "class Client" in code:
            parts += [f"## Client\n\n{comment}", *_members(code)]
            client = code
        elif "export class" in code:
            parts.append(f"{comment}\n\n```ts\n{_without_comments(code)}\n```")
        elif "export type" in code:
            types.append(f"{comment}\n\n```ts\n{code}\n```".strip())
    assert client
    return "\n\n".join([*parts, "## Types", *types])


def _members(code: str) -> list[str]:
    inside = [line[4:] for line in code.splitlines()[1:-1]]
    return [f"{text}\n\n```ts\n{each}\n```".strip() for text, each in declarations(inside) if "#private" not in each]


def declarations(lines: list[str]) -> Iterator[tuple[str, str]]:
    r"""Each declaration with the text of the comment before it, without its tags.

    >>> list(declarations(["/** Two. */", "a(): b;", "/**", " * Three", " * @param x", " */", "c = {", "    d", "};"]))
    [('Two.', 'a(): b;'), ('Three', 'c = {\n    d\n};')]
    """
    comment, code, is_comment = list[str](), list[str](), False
    for line in lines:
        if not code and line.startswith("/**"):
            comment, is_comment = [], True
        if is_comment:
            comment.append(line.strip(" /*"))
            is_comment = "*/" not in line
            continue
        code.append(line)
        if re.match(r"(\S.*)?[;}]$", line) and "".join(code).count("{") == "".join(code).count("}"):
            tagged = next((n for n, each in enumerate(comment) if each.startswith("@")), len(comment))
            yield plain(" ".join(comment[:tagged])).replace("\\|", "|"), "\n".join(code)
            comment, code = [], []


def _without_comments(code: str) -> str:
    return re.sub(r"^\s*/\*\*.*?\*/\n", "", code, flags=re.DOTALL | re.MULTILINE)
