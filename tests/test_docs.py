from __future__ import annotations

import re
from pathlib import Path

from slotwise.cli.command_app import app_of
from slotwise.policies import default_policy
from slotwise.policies.policy_registry import parse

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_every_command_is_in_the_readme() -> None:
    for command in app_of().registered_commands:
        assert command.callback is not None
        assert f"slotwise {command.name or command.callback.__name__}" in README


def test_the_policies_that_are_recommended_and_compared_are_in_the_docs() -> None:
    """All of them are listed by `slotwise policies`, and by no page: one file is all it takes."""
    for page in (ROOT / "docs" / "policies.md", ROOT / "research" / "notes" / "changing_pages.md"):
        for label in ("posterior-sampling", str(default_policy()), str(default_policy(known_bias=True))):
            assert f"`{label}`" in page.read_text()
    assert "slotwise policies" in README


def test_the_docs_name_no_policy_that_is_not_there() -> None:
    named = [
        id
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        for id in re.findall(r"--policy ([a-z][\w:=.,-]*)", page.read_text())
    ]
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
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("client/*/*.md")]
    pages += ROOT.glob("research/**/*.md")
    links = 0
    for page in pages:
        for address in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, heading = address.partition("#")
            if "://" in address:
                continue
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page.name}: {address}"
            assert not heading or heading in _headings(target), f"{page.name}: {address}"
            links += 1
    assert links


def _headings(page: Path) -> set[str]:
    """What follows the # in an address that leads to a heading of a page."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
