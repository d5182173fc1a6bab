"""One page that a person would rather read than the files: figures, tables and words, nothing outside it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from slotwise.files import replacing

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c1c1c; max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.6rem; border-bottom: 1px solid #ddd; padding-bottom: .3rem; }
img { width: 100%; height: auto; } figure { margin: 1rem 0; } figcaption { color: #555; font-size: .9rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .7rem; border-bottom: 1px solid #e4e4e4; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.yes { color: #00614a; font-weight: 600; white-space: nowrap; }
.no { color: #a33c00; font-weight: 600; white-space: nowrap; }
.note { background: #f6f4ee; border-left: 4px solid #d8a600; padding: .6rem 1rem; } code { font-size: .92em; }
"""


def write_page(path: Path, title: str, parts: Iterable[str]) -> None:
    """Write a whole page of these pieces of HTML."""
    with replacing(path) as file:
        file.write(whole_page(title, parts).encode())


def whole_page(title: str, parts: Iterable[str]) -> str:
    """A page of these pieces of HTML."""
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body>\n{body}\n</body></html>\n"
    )


def heading(text: str, level: int = 2) -> str:
    """A heading of plain text."""
    return f"<h{level}>{escape(text)}</h{level}>"


def figure(picture: Path, caption: str) -> str:
    """An SVG file in the page itself."""
    data = base64.b64encode(picture.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{_text(caption)}</figcaption></figure>"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain text; a column whose head begins with # holds numbers, and stands to the right.

    >>> table(["slot", "#clicks"], [["1 & 2", "30"]])
    '<table><tr><th>slot</th><th class="n">clicks</th></tr><tr><td>1 &amp; 2</td><td class="n">30</td></tr></table>'
    """
    kinds = [' class="n"' if head.startswith("#") else "" for head in heads]

    def line(tag: str, cells: Iterable[str]) -> str:
        return (
            "<tr>"
            + "".join(f"<{tag}{kind}>{_text(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
            + "</tr>"
        )

    return (
        f"<table>{line('th', [head.removeprefix('#') for head in heads])}{''.join(line('td', r) for r in rows)}</table>"
    )


def paragraph(text: str, kind: str = "") -> str:
    """Plain text as a paragraph, of the class `kind`: "note", say."""
    return f'<p class="{kind}">{_text(text)}</p>' if kind else f"<p>{_text(text)}</p>"


def bullets(sentences: Iterable[str]) -> str:
    """Plain sentences, one below the other."""
    return f"<ul>{''.join(f'<li>{_text(one)}</li>' for one in sentences)}</ul>"


def _text(text: str) -> str:
    # a number and its unit stay on one line
    return escape(text).replace(" %", "&nbsp;%")
