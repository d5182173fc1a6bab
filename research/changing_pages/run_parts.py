"""The study of changing pages: segments, new items, features, drift and delayed outcomes.

`python -m research changing-pages` runs its parts (`plan`), stores every finished cell (`cells`), and writes a table
for each part (`part_tables`), two figures and all numbers as CSV. `fill` puts the tables between the marks of
research/notes/changing_pages.md.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from research.changing_pages.cells import run
from research.changing_pages.figures import FIGURES
from research.changing_pages.part_tables import COLUMNS, TABLES, numbers
from research.changing_pages.plan import PARTS, Plan
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.io import replacing, write_csv
from slotwise.core.plotting import save


def write(
    out: Path,
    plan: Plan,
    *,
    parts: Sequence[str] = (),
    page: Path | None = None,
    jobs: int = -1,
    progress: bool | None = None,
) -> None:
    """Run some parts, all by default, and write what they found into `out`, each when it is done.

    With a `page`, the tables replace the text between its marks, and the figures are copied next to it.
    """
    chosen = list(dict.fromkeys(parts)) or list(PARTS)
    for part in chosen:
        validation.one_of("part", part, list(PARTS))
    if page is not None:
        # before hours of work
        for part in chosen:
            fill(page.read_text(encoding="utf-8"), part, "")
    for part in chosen:
        found = run(PARTS[part](plan), out, jobs=jobs, progress=progress)
        text = TABLES[part](found, plan)
        _write_text(out / f"{part}.md", text)
        write_csv(out / f"{part}.csv", COLUMNS, numbers(found))
        if part in FIGURES:
            save(FIGURES[part](found, plan), out, f"changing_pages_{part}")
        if page is not None:
            _write_text(page, fill(page.read_text(encoding="utf-8"), part, text))
            if part in FIGURES:
                shutil.copyfile(out / f"changing_pages_{part}.png", page.parent / f"changing_pages_{part}.png")
    written = [part for part in PARTS if (out / f"{part}.md").exists()]
    whole = "\n".join(f"## {part}\n\n{(out / f'{part}.md').read_text(encoding='utf-8')}" for part in written)
    _write_text(out / "tables.md", whole)


def fill(page: str, part: str, text: str) -> str:
    r"""The page with a text between the marks of a part.

    >>> fill("Before <!-- long -->\nold\n<!-- /long --> after", "long", "new\n")
    'Before <!-- long -->\n\nnew\n\n<!-- /long --> after'
    """
    marks = re.compile(f"(<!-- {re.escape(part)} -->).*?(<!-- /{re.escape(part)} -->)", re.DOTALL)
    if len(marks.findall(page)) != 1:
        raise InvalidInput(f"the page must have <!-- {part} --> and <!-- /{part} --> once, to put the tables between")
    return marks.sub(lambda found: f"{found[1]}\n\n{text}\n{found[2]}", page)


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
