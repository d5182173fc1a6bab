"""The pages as text: their links, commands, settings and names are those of the code."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from slotwise.cli.command_app import COMMANDS, app_of
from slotwise.policies.policy_registry import parse

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: longest README and longest guide, in words
MAX_README, MAX_GUIDE = 700, 400


def _names(pages: list[Path]) -> list[str]:
    return [page.relative_to(ROOT).as_posix() for page in pages]


def _blocks(text: str) -> Iterator[str]:
    """Indented and fenced blocks of a page."""
    yield from re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    yield from re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)


def _commands(page: Path) -> Iterator[list[str]]:
    """The words of every `slotwise …` command in the blocks of a page, without comments and continued lines joined."""
    for block in _blocks(page.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.search(r"(?:^|&& |bin/)slotwise ([a-z]+ .*|[a-z]+$)", line.strip())
            if found and "…" not in found[1]:
                yield shlex.split(found[1], comments=True)


def test_the_readme_is_short_and_links_to_the_pages_that_people_look_for() -> None:
    assert len(README.split()) <= MAX_README
    for page in (
        "tutorials/first-placement",
        "reference/placement-fields",
        "reference/http-api",
        "right-for-me",
        "explanation/security",
        "explanation/privacy",
    ):
        assert f"(docs/{page}.md)" in README


def test_the_readme_has_the_words_that_people_search_for() -> None:
    for word in ("bandit", "Thompson sampling", "A/B test", "popularity", "holdout", "privacy", "MIT", "Alpha"):
        assert word in README


@pytest.mark.parametrize("guide", sorted((ROOT / "docs" / "guides").glob("*.md")), ids=lambda guide: guide.stem)
def test_a_guide_is_short(guide: Path) -> None:
    assert len(guide.read_text().split()) <= MAX_GUIDE


@pytest.mark.parametrize("page", PAGES, ids=_names(PAGES))
def test_every_command_on_a_page_parses(page: Path) -> None:
    group: Any = get_command(app_of(COMMANDS))
    for words in _commands(page):
        assert words[0] in group.commands, f"{page.name}: slotwise {words[0]}"
        if "--help" in words:
            continue
        command = group.commands[words[0]]
        context = command.make_context(words[0], list(words[1:]), resilient_parsing=True)
        assert context.args == [], f"{page.name}: {' '.join(words)}"


def test_there_are_commands_on_the_pages() -> None:
    assert sum(1 for page in PAGES for _ in _commands(page)) > 40


@pytest.mark.parametrize("page", PAGES, ids=_names(PAGES))
def test_python_on_a_page_compiles_and_imports_what_is_there(page: Path) -> None:
    """Blocks with prompts are run as doctests; the others have to be valid, and their imports of slotwise to work."""
    for code in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        if ">>>" in code:
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("slotwise"):
                exec(compile(ast.Module([node], []), page.name, "exec"), {})


def test_every_request_on_a_page_is_one_of_the_api() -> None:
    from docs.tools.reference.http_api import document

    known = [(method.upper(), _pattern(path)) for path, methods in document()["paths"].items() for method in methods]
    known += [
        ("GET", _pattern(path)) for path in ("/", "/docs", "/openapi.json", "/slotwise.js", "/readyz", "/healthz")
    ]
    found = 0
    for page in PAGES:
        for method, path in re.findall(
            r"curl (?:-s )?(?:-X (\w+) )? *'?(?:https?://)?(?:localhost|127\.0\.0\.1):8000(/[^\s'?]*)", page.read_text()
        ):
            assert any(method in (known_method, "") and pattern.fullmatch(path) for known_method, pattern in known), (
                f"{page.name}: {method} {path}"
            )
            found += 1
    assert found > 20


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))


def test_the_docs_name_no_policy_that_is_not_there() -> None:
    pages = [page for page in PAGES if page.name not in ("CONTRIBUTING.md", "renamed.md")]
    named = [id for page in pages for id in re.findall(r"--policy ([a-z][\w:=.,-]*)", page.read_text())]
    assert [str(parse(id)) for id in named] == named != []


def test_no_two_lists_of_the_layers() -> None:
    """The layers in CONTRIBUTING.md are the folders and files there are."""
    table = (ROOT / "CONTRIBUTING.md").read_text().split("| package | what is in it |")[1].split("\n\n")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    source = ROOT / "src" / "slotwise"
    there = {path.stem for path in source.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert named == there - {"__init__", "__main__"}


def test_every_hop_of_the_walk_is_a_file() -> None:
    walk = (ROOT / "CONTRIBUTING.md").read_text().split("## A walk through the code")[1].split("\n## ")[0]
    hops = re.findall(r"`([\w/]+(?:\.py|/))`", walk)
    assert len(hops) > 30
    folders = (ROOT / "src" / "slotwise", ROOT)
    assert [hop for hop in hops if not any((folder / hop).exists() for folder in folders)] == []


def test_every_link_leads_somewhere() -> None:
    pages = [*PAGES, ROOT / "CHANGELOG.md", *ROOT.glob("client/*/*.md"), *ROOT.glob("research/**/*.md")]
    links, broken = 0, []
    for page in pages:
        for address in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, heading = address.partition("#")
            if "://" in address:
                continue
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (heading and heading not in _headings(target)):
                broken.append(f"{page.relative_to(ROOT)}: {address}")
            links += 1
    assert broken == []
    assert links > 200


def _headings(page: Path) -> set[str]:
    """What follows the # in an address that leads to a heading of a page."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_lab_note_has_a_stamp() -> None:
    for note in (ROOT / "research" / "notes").glob("*.md"):
        assert re.search(r"commit [0-9a-f]{7}", note.read_text()), note.name


def test_old_names_are_not_on_the_pages() -> None:
    """Commands and fields that were renamed are only on the page that says so."""
    old = re.compile(r"slotwise (drive|loadtest|study)\b|\"mode\": \"frozen\"|\"memory\":|\.freeze\(\)")
    pages = [page for page in PAGES if page.name != "renamed.md"]
    assert [page.name for page in pages if old.search(page.read_text())] == []
