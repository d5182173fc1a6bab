"""The report on a fitted log: plain words first, figures, then numbers; one page, nothing outside it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from slotwise.files import replacing
from slotwise.logs.fitting.fit import Fit, as_json
from slotwise.logs.fitting.wording import level, percent, with_interval
from slotwise.logs.reporting.placement import Diagnosis
from slotwise.logs.reporting.sections import sections
from slotwise.page import bullets, heading, paragraph, table, write_page

#: placements that are reported in full, those with the most impressions
IN_FULL = 50


def write_report(
    fits: Fit | Iterable[Fit],
    folder: Path,
    *,
    source: str = "a click log",
    seed: int = 0,
    rules: Mapping[str, str] | None = None,
) -> Path:
    """Write `report.html`, its figures as PNG and SVG, `items.csv`, `slots.csv` and `fit.json` into `folder`.

    `rules` says of each rule of cleaning what it does; what was cleaned is that of the whole log.
    """
    every = [Diagnosis(fit, seed) for fit in ([fits] if isinstance(fits, Fit) else fits)]
    folder.mkdir(parents=True, exist_ok=True)
    _write_tables([one.fit for one in every], folder)
    if len(every) == 1:
        parts = [heading(f"What {source} says", 1), *sections(every[0], folder, "")]
    else:
        parts = _several(every, folder, source)
    parts += [_cleaning(every[0].fit.cleaning if every else {}, rules or {}), _settings(every)]
    write_page(folder / "report.html", f"What {source} says", parts)
    return folder / "report.html"


def _several(every: Sequence[Diagnosis], folder: Path, source: str) -> list[str]:
    by_size = sorted(every, key=lambda one: -one.fit.impressions)
    full = by_size[:IN_FULL]
    total = sum(one.fit.impressions for one in every)
    parts = [
        heading(f"What {source} says", 1),
        paragraph(
            f"{total:,} impressions of {len(every):,} placements, each fitted by itself; those with the most "
            "impressions first. Click rate: the part of impressions with a click, as observed, and as expected of the "
            "list that slotwise would show."
        ),
    ]
    if len(by_size) > len(full):
        parts.append(
            paragraph(
                f"The {len(full)} largest placements are reported in full below; the numbers of all are in items.csv, "
                "slots.csv and fit.json.",
                "note",
            )
        )
    rows = []
    for number, one in enumerate(by_size):
        name = escape(str(one.fit.placement))
        label = f'<a href="#p{number}">{name}</a>' if number < len(full) else name
        sure = "yes" if one.slots_comparable else "no"
        numbers = [
            f"{one.fit.impressions:,}",
            f"{len(one.fit.item_ids):,}",
            percent(one.fit.click_rate),
            with_interval(one.best.rate),
        ]
        cells = "".join(f'<td class="n">{cell}</td>' for cell in numbers)
        rows.append(f"<tr><td>{label}</td>{cells}<td>{sure}</td></tr>")
    heads = ("impressions", "items", "click rate", "expected of the best list")
    parts.append(
        f"<table><tr><th>placement</th>{''.join(f'<th class=n>{head}</th>' for head in heads)}"
        f"<th>slots comparable?</th></tr>{''.join(rows)}</table>"
    )
    for number, one in enumerate(full):
        parts.append(f'<h1 id="p{number}">{escape(str(one.fit.placement))}</h1>')
        parts.extend(sections(one, folder, f"{number + 1:02d}_"))
    return parts


def _cleaning(counts: Mapping[str, int], rules: Mapping[str, str]) -> str:
    met = [[f"{count:,}", rules.get(rule, rule)] for rule, count in counts.items() if count]
    spared = [rules.get(rule, rule) for rule, count in counts.items() if not count]
    parts = [heading("What was cleaned")]
    parts.append(table(["#how often", "what was found, and what was done"], met) if met else paragraph("Nothing."))
    if spared:
        parts.append(f"<details><summary>Looked for, and not found</summary>{bullets(spared)}</details>")
    return "".join(parts)


def _settings(every: Sequence[Diagnosis]) -> str:
    estimators = dict.fromkeys(one.fit.estimator for one in every)
    sampled = any(one.fit.sampled for one in every)
    words = [
        "The model: a visitor clicks the item in slot k with probability in proportion to the slot's weight times the "
        "item's attractiveness, and nothing in proportion to 1 (multinomial logit with position bias).",
        f"Estimator: {', '.join(estimators)}; intervals at {level()}, one by one.",
        *(["Lists as a whole were kept of a random part of the impressions."] if sampled else []),
        f"slotwise {version('slotwise')}, numpy {version('numpy')}, scipy {version('scipy')}.",
    ]
    return heading("How this was computed") + bullets(words)


def _write_tables(fits: Sequence[Fit], folder: Path) -> None:
    heads = ["placement", "item", "attractiveness", "low", "high", "shown", "clicks"]
    _write_csv(folder / "items.csv", heads, ((fit.placement, *row) for fit in fits for row in fit.item_rows()))
    heads = ["placement", "slot", "position_bias", "low", "high", "shown", "clicks"]
    _write_csv(folder / "slots.csv", heads, ((fit.placement, *row) for fit in fits for row in fit.slot_rows()))
    with replacing(folder / "fit.json") as file:
        file.write(json.dumps(as_json(fits), indent=1, ensure_ascii=False).encode())


def _write_csv(path: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text)
        writer.writerow(heads)
        writer.writerows(rows)
        text.flush()
        text.detach()
