"""A linter of the project's English: short sentences, plain openers, and the terms of the glossary.

It reads the pages of README.md and `docs/`, the help of commands, the descriptions of the HTTP API, and the texts of
the dashboard and the demo. `python -m docs.tools prose` prints every fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from docs.tools.site import ROOT

MAX_WORDS = 25
#: a sentence that begins with one of these has no subject yet; a question may
OPENERS = ("What", "Whoever", "Of", "Where")
#: words to avoid, as regular expressions, and the term of the glossary
TERMS = {
    r"crowds?": "segment",
    r"foretells?|foretold": "predicts",
    r"drawn towards?|pulled to": "shrunk toward",
    r"made[- ]up": "synthetic, simulated",
    r"on its way|in flight": "pending",
    r"holds? the truth": "covers",
    r"plain sampling": "Thompson sampling",
    r"as listed|the order given": "control order",
    r"does it pay|it pays": "uplift",
    r"whoever": "anyone who",
    r"anew": "again",
    r"in place of": "instead of",
    r"beside(?! the service| the fitted| a simulation)": "compared with, next to",
    r"what (?:is|was) (?:known|shown|seen|said|asked|told|clicked|believed)": "name the thing",
    r"told": "knows, gets",
    r"of which": "whose, that",
    r"says?|said|tells?": "shows, states, reports",
    r"whatever|whichever": "any, every",
    r"with a probability of 95 %": "95 % confidence interval",
    r"held[- ]back items?": "underplaced items",
    r"have a look": "needs attention",
}
_TERM = re.compile("|".join(rf"(?P<t{number}>\b(?:{term})\b)" for number, term in enumerate(TERMS)), re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\"”)*]*\s+(?=[A-Z“\"`*\[]|slotwise\b)|(?<=:)\s*\n|\n{2,}")


class Fault(NamedTuple):
    """A fault of a text: its place, the rule, and the words."""

    place: str
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}: {self.text}"


def faults_of(place: str, text: str, *, max_words: int = MAX_WORDS) -> Iterator[Fault]:
    """Every fault of a text.

    >>> [fault.rule for fault in faults_of("page", "What is refused is named. It foretells clicks.")]
    ['begins with What', 'write "predicts"']
    >>> [fault.rule for fault in faults_of("page", "word " * 26 + "end.")]
    ['27 words, at most 25']
    >>> list(faults_of("page", "What does it cost? One process."))
    []
    """
    for sentence in sentences(text):
        words = sentence.split()
        if words[0].strip('*_“"') in OPENERS and not sentence.endswith("?"):
            yield Fault(place, f"begins with {words[0]}", sentence[:90])
        count = sum(any(character.isalnum() for character in word) for word in words)
        if count > max_words:
            yield Fault(place, f"{count} words, at most {max_words}", sentence[:90])
        for found in _TERM.finditer(sentence):
            term = list(TERMS.values())[int(str(found.lastgroup)[1:])]
            yield Fault(place, f'write "{term}"', found[0])


def sentences(text: str) -> Iterator[str]:
    """The sentences of plain text; a line that ends in a colon ends one, and so does an empty line."""
    for piece in _SENTENCE.split(text):
        sentence = " ".join(piece.replace("`", "").split())
        if len(sentence.split()) > 1:
            yield sentence


def prose(markdown: str) -> str:
    r"""The running text of a page: without code, tables, headings, pictures and generated parts.

    >>> prose("# Title\n\nSee [the page](a.md).\n\n    slotwise demo\n\n| a | b |\n- One.\n- Two.").split("\n\n")
    ['See the page.', 'One.', 'Two.']
    """
    text = re.sub(r"<!-- generated.*?<!-- end -->", "", markdown, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^( {4,}\S.*|\|.*|#+ .*|<.*|!\[.*)$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^ *(?:[-*]|\d+\.) (?:\[ \] )?", "\n\n", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def page_faults() -> Iterator[Fault]:
    """Faults of README.md, the changelog and the pages in `docs/`."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        yield from faults_of(page.relative_to(ROOT).as_posix(), prose(page.read_text()))


def interface_faults() -> Iterator[Fault]:
    """Faults of the texts that a program shows: help, API descriptions, dashboard and demo."""
    from docs.tools.reference.command_line import commands
    from docs.tools.reference.http_api import document

    yield from faults_of("slotwise --help", prose(commands()), max_words=MAX_WORDS)
    for text in _descriptions(document()):
        yield from faults_of("OpenAPI", text)
    for folder in ("service/http", "demo"):
        for path in sorted((ROOT / "src" / "slotwise" / folder).rglob("*")):
            if path.suffix in (".html", ".js"):
                for text in ui_texts(path):
                    yield from faults_of(path.relative_to(ROOT).as_posix(), text)


def _descriptions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("description", "summary") and isinstance(inner, str):
                yield inner
            else:
                yield from _descriptions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _descriptions(inner)


def ui_texts(path: Path) -> Iterator[str]:
    """The texts in a template or script: between tags, or string literals of several words."""
    source = path.read_text()
    if path.suffix == ".html":
        text = re.sub(r"<(script|style).*?</\1>|\{[%#].*?[%#]\}", "", source, flags=re.DOTALL)
        found = re.split(r"<[^>]+>", text)
    else:
        code = re.sub(r"/\*.*?\*/|^\s*//[^\n]*$", "", source, flags=re.DOTALL | re.MULTILINE)
        found = [a or b for a, b in re.findall(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code)]
    for text in found:
        words = unescape(re.sub(r"\$?\{[^}]*\}+", "N", text)).strip()
        if len(words.split()) > 2 and "<" not in words:
            yield words
