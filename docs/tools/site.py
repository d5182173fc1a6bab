"""The site: a copy of the pages in the layout of the site, which Zensical turns into HTML.

The site has the layout of the repository without the folder `docs/`, so that a link between files of the repository is
also a link of the site. README.md is the home page.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "ROADMAP.md",
    "SECURITY.md",
    "LICENSE",
    "client/node/README.md",
    "client/node/example_site.js",
    "deploy/*",
    "deploy/helm/slotwise/*.yaml",
    "docs/**/*",
    "research/README.md",
    "research/notes/*",
)
#: the table of pages that have moved
RENAMED = ROOT / "docs" / "reference" / "renamed.md"
_LINK = re.compile(r"(\]\(|src=\"|href=\")([\w./-]+)(#[^)\s\"]*)?([)\"])")
_REDIRECT = '<!doctype html><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url={}">\n'


def build_site(folder: Path) -> int:
    """Build the site into a folder; the exit code of the build."""
    with tempfile.TemporaryDirectory() as stage:
        for path in repository_pages():
            copy = Path(stage, "docs", site_path(path))
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.endswith(".md"):
                copy.write_text(with_site_links((ROOT / path).read_text(), path))
            else:
                shutil.copy(ROOT / path, copy)
        shutil.copy(ROOT / "mkdocs.yml", stage)
        built = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=stage, check=False)
        if built.returncode:
            return built.returncode
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(Path(stage, "site"), folder)
    for old, new in redirects():
        (folder / old).parent.mkdir(parents=True, exist_ok=True)
        (folder / old).write_text(_REDIRECT.format(new))
    print(f"{folder / 'index.html'}")
    return 0


def repository_pages() -> Iterator[str]:
    """Paths of all files of the site, from the top of the repository."""
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            relative = path.relative_to(ROOT).as_posix()
            if path.is_file() and not re.search(r"^docs/(tools/|__init__)|__pycache__", relative):
                yield relative


def site_path(path: str) -> str:
    """The place in the site of a file of the repository.

    >>> site_path("docs/guides/upgrade.md"), site_path("README.md"), site_path("deploy/nginx.conf")
    ('guides/upgrade.md', 'index.md', 'deploy/nginx.conf')
    """
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def with_site_links(markdown: str, path: str) -> str:
    """The text of a page with its relative links turned into those of the site.

    >>> with_site_links("[here](docs/faq.md#cost), [there](research/README.md)", "README.md")
    '[here](faq.md#cost), [there](research/README.md)'
    >>> with_site_links("[notes](../../research/README.md)", "docs/guides/upgrade.md")
    '[notes](../research/README.md)'
    """
    here = posixpath.dirname(site_path(path)) or "."

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))
        return f"{link[1]}{posixpath.relpath(site_path(target), here)}{link[3] or ''}{link[4]}"

    return _LINK.sub(moved, markdown)


def redirects() -> Iterator[tuple[str, str]]:
    """Old addresses in the site with the address to go to, relative to the old one."""
    rows = re.findall(r"^\| `docs/([\w/.-]+)\.md` \| \[[^\]]*\]\(([^)#]+)\.md", RENAMED.read_text(), re.MULTILINE)
    for old, new in rows:
        target = posixpath.normpath(posixpath.join("reference", new))
        yield f"{old}.html", f"{posixpath.relpath(target, posixpath.dirname(old) or '.')}.html"
