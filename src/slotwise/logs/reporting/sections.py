"""The report's sections on one placement, as pieces of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from slotwise.drawing import save
from slotwise.logs.fitting import figures
from slotwise.logs.fitting.fit import LEVEL, Fit
from slotwise.logs.fitting.goodness_of_fit import FEWEST_DEGREES
from slotwise.logs.fitting.wording import level, number, percent, with_interval
from slotwise.logs.reporting.placement import Diagnosis
from slotwise.page import bullets, figure, heading, paragraph, table

#: rows of a table of items; all of them are in items.csv
MOST_ROWS = 30
FORMATS = ("png", "svg")


def sections(one: Diagnosis, folder: Path, prefix: str) -> list[str]:
    """All of it; the figures go into `folder` as well, their names beginning with `prefix`."""
    fit = one.fit
    return [
        bullets(one.in_words()),
        heading("What each slot is worth"),
        paragraph(
            "How many clicks an item gets in each slot, beside what the same item would get in slot 1. Lines are "
            f"{level()} intervals; an arrow means that there is no upper end."
        ),
        _draw(figures.position_bias(fit), folder, f"{prefix}position_bias", "Weight of each slot beside slot 1."),
        _slot_table(fit),
        heading("Which items people want"),
        paragraph(
            "Attractiveness is what an item gets in slot 1: clicks on it per impression without any click. "
            "Points and lines are what was seen. The short strokes, by which the items are in order, are what to "
            "decide on: drawn towards the average the more, the less was seen of an item."
        ),
        _draw(figures.items(fit), folder, f"{prefix}items", f"Items by attractiveness, with {level()} intervals."),
        _item_table(fit),
        heading("Does the model fit?"),
        *_fit_part(one, folder, prefix),
        heading("Which model predicts best?"),
        *_models_part(one, folder, prefix),
        heading("What this log cannot say"),
        bullets(one.open),
        heading("What slotwise would show"),
        *_best_part(one),
    ]


def _fit_part(one: Diagnosis, folder: Path, prefix: str) -> list[str]:
    found = one.goodness
    if found is None:
        return [paragraph("Whole lists were not kept, so that this cannot be said.")]
    caption = (
        f"Left: clicks on each slot, observed with {level()} intervals and fitted. Right: a point a pair of slot and "
        "item with at least five fitted clicks; in the grey band the difference may be chance."
    )
    numbers = (
        f"Without any click: {percent(found.no_click)} observed, {percent(found.fitted_no_click)} fitted. Over "
        f"{len(found.clicks):,} pairs, chi-square is {found.chi_square:,.0f}, degrees of freedom {found.degrees:,.0f}."
    )
    parts = [
        paragraph(found.in_words()),
        _draw(figures.observed_and_fitted(found), folder, f"{prefix}fit", caption),
        paragraph(numbers + (" From a random part of the impressions." if one.fit.sampled else "")),
    ]
    if found.degrees >= FEWEST_DEGREES and found.worst:
        rows = [[str(pair.slot), pair.item, f"{pair.clicks:,}", f"{pair.expected:,.0f}"] for pair in found.worst]
        parts += ["<details><summary>The pairs that are furthest off</summary>"]
        parts += [table(["#slot", "item", "#clicks observed", "#fitted"], rows), "</details>"]
    return parts


def _models_part(one: Diagnosis, folder: Path, prefix: str) -> list[str]:
    found = one.held_out
    if found is None or not found.scores:
        return [paragraph("Too few whole lists were kept to hold any out.")]
    rows = [
        [
            score.model,
            f"{score.log_likelihood:.4f}",
            "" if score is found.scores[0] else f"{score.difference:+.4f} ± {score.standard_error:.4f}",
        ]
        for score in found.scores
    ]
    return [
        paragraph(found.in_words()),
        paragraph(
            f"Each model was fitted on {found.fitted_on:,} impressions and asked how likely it finds what was clicked "
            f"in {found.impressions:,} others. The position-based model lets slots be clicked independently of each "
            "other; it is compared given at most one click, like the others."
        ),
        _draw(
            figures.models(found),
            folder,
            f"{prefix}models",
            f"Models on the impressions held out; {level()} intervals.",
        ),
        table(["model", "#log-likelihood per impression", "#difference ± standard error"], rows),
    ]


def _best_part(one: Diagnosis) -> list[str]:
    fit, best = one.fit, one.best
    numbers = {id: number for number, id in enumerate(fit.item_ids)}
    interval = fit.shrunken.intervals(LEVEL).attractiveness
    rows = []
    for slot, id in enumerate(best.items):
        if id is not None:
            item = numbers[id]
            rows.append(
                [
                    str(slot + 1),
                    id,
                    number(fit.shrunken.attractiveness[item]),
                    f"{number(interval.low[item])} to {number(interval.high[item])}",
                    f"{fit.showings[:, item].sum():,}",
                    f"{fit.showings[slot, item]:,}",
                ]
            )
    return [
        paragraph(
            f"Expected click rate {with_interval(best.rate)}; the log had {percent(fit.click_rate)}. Items are drawn "
            "towards the average by how little was seen of them, so that few are here by luck alone. The interval is "
            f"for visitors like those of the log, and takes the model to be right. {best.caution()}"
        ),
        table(["#slot", "item", "#attractiveness", "#interval", "#times shown", "#in this slot"], rows),
    ]


def _slot_table(fit: Fit) -> str:
    interval = fit.estimate.intervals(LEVEL).position_bias
    rows = [
        [
            str(slot + 1),
            number(fit.estimate.position_bias[slot]),
            f"{number(interval.low[slot])} to {number(interval.high[slot])}",
            f"{fit.showings[slot].sum():,}",
            f"{fit.tally.clicks[slot].sum():,}",
        ]
        for slot in range(fit.slots)
    ]
    return table(["#slot", "#weight", f"#{level()} interval", "#times filled", "#clicks"], rows)


def _item_table(fit: Fit) -> str:
    order = np.argsort(-fit.shrunken.attractiveness, kind="stable")[:MOST_ROWS]
    interval = fit.estimate.intervals(LEVEL).attractiveness
    shown, clicks = fit.showings.sum(axis=0), fit.tally.clicks.sum(axis=0)
    rows = [
        [
            fit.item_ids[item],
            number(fit.estimate.attractiveness[item]),
            f"{number(interval.low[item])} to {number(interval.high[item])}",
            f"{shown[item]:,}",
            f"{clicks[item]:,}",
        ]
        for item in order
    ]
    which = "All items" if len(fit.item_ids) <= MOST_ROWS else f"The first {MOST_ROWS}; all are in items.csv"
    heads = ["item", "#attractiveness", f"#{level()} interval", "#shown", "#clicks"]
    return f"<details><summary>{which}</summary>{table(heads, rows)}</details>"


def _draw(drawn: Any, folder: Path, name: str, caption: str) -> str:
    save(drawn, folder, name, FORMATS)
    return figure(folder / f"{name}.svg", caption)
