"""The built site: no warnings, nothing from the network, and every link leads to a page or file of it."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.tools import site as site_tools
from docs.tools.site import build_site, redirects
from tests.service.browser import opened


class _Page(HTMLParser):
    """The addresses that a page links to or loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links = list[str]()
        self.loaded = list[str]()
        self.anchors = set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.anchors.add(str(values["id"]))
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        elif tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loaded.append(str(values["src"]))
        elif tag == "link" and values.get("href") and values.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(str(values["href"]))


@cache
def _page(path: Path) -> _Page:
    return _Page(path.read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    assert build_site(folder) == 0
    return folder


def test_no_page_loads_anything_from_the_network(built: Path) -> None:
    loaded = [(page.name, address) for page in built.rglob("*.html") for address in _page(page).loaded]
    assert len(loaded) > 20
    assert [each for each in loaded if urlsplit(each[1]).netloc] == []


def test_every_link_of_the_site_leads_to_a_page_or_file_of_it(built: Path) -> None:
    broken = []
    pages = [page for page in built.rglob("*.html") if page.name != "404.html"]
    for page in pages:
        for address in [*_page(page).links, *_page(page).loaded]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment)
            if not target.is_file():
                broken.append(f"{page.relative_to(built)}: {address}")
            elif anchor and target.suffix == ".html" and anchor not in _page(target).anchors | {"__skip", "__top"}:
                broken.append(f"{page.relative_to(built)}: {address} (no such heading)")
    assert broken == []


def test_the_search_index_is_there_without_a_server(built: Path) -> None:
    assert "holdout" in (built / "search.js").read_text()
    assert re.search(r"<script[^>]*iframe-worker", (built / "index.html").read_text())


def test_old_addresses_redirect_to_pages_that_are_there(built: Path) -> None:
    for old, new in redirects():
        assert f"url={new}" in (built / old).read_text()
        assert ((built / old).parent / new).resolve().is_file(), f"{old}: {new}"


def test_a_page_that_cannot_be_built_leaves_the_old_site(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("old")
    broken = tmp_path / "repository"
    broken.mkdir()
    (broken / "README.md").write_text("[nowhere](docs/nowhere.md)")
    (broken / "mkdocs.yml").write_text((site_tools.ROOT / "mkdocs.yml").read_text())
    monkeypatch.setattr(site_tools, "ROOT", broken)
    assert build_site(folder) != 0
    assert (folder / "index.html").read_text() == "old"


def test_the_search_finds_a_page_without_a_server_or_a_network(built: Path, tmp_path: Path) -> None:
    """The results are in a shadow tree, so the test looks through all of them."""
    text = """(() => { const texts = []; const walk = (root) => root.querySelectorAll('*').forEach((each) => {
        if (each.shadowRoot) { texts.push(each.shadowRoot.textContent); walk(each.shadowRoot); } });
        walk(document); return texts.join(' '); })()"""
    with opened(tmp_path / "browser") as tab:
        tab.open(f"file://{built}/index.html")
        for kind in ("rawKeyDown", "keyUp"):
            tab.call("Input.dispatchKeyEvent", type=kind, modifiers=2, key="k", code="KeyK", windowsVirtualKeyCode=75)
        tab.wait_for(f"{text}.length > 0")
        tab.call("Input.insertText", text="holdout")
        tab.wait_for(f"{text}.includes('How large a holdout')")
