"""Click models compared on a log, as a page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from slotwise.click_models import choice_model
from slotwise.core.html_page import write_page
from slotwise.core.io import replacing
from slotwise.logs.evaluation.click_model_choice import ClickModelComparison
from slotwise.logs.evaluation.click_model_comparison import ModelComparison
from slotwise.logs.fitting.number_format import percent

HEADS = ("model", "first click", "all clicks", "perplexity", "clicks expected")
PLACEMENT_HEADS = ("placement", "held out", "several clicks", "first click", "all clicks")
#: placements on the page, those with the most impressions; all of them are in the JSON
LISTED = 200


def rows(comparison: ModelComparison) -> list[list[str]]:
    """Model; log-likelihood per impression of the first click and of all; perplexity of a slot; clicks expected."""
    able = comparison.best("every")
    return [
        [
            model.name,
            f"{comparison.mean(model.first):.4f}",
            f"{comparison.mean(model.every):.4f}" if model in able else "impossible",
            f"{comparison.perplexity(model):.4f}",
            f"{comparison.mean(model.clicks):.2f}",
        ]
        for model in comparison.models
    ]


def placement_rows(comparisons: Sequence[ModelComparison]) -> list[list[str]]:
    """Placement; impressions held out; share with several clicks; what describes the first click, and all clicks."""
    judged = sorted(
        (comparison for comparison in comparisons if comparison.models), key=lambda comparison: -comparison.held_out
    )
    return [
        [
            str(comparison.placement),
            f"{comparison.held_out:,}",
            percent(comparison.several),
            comparison.simplest("first").name,
            comparison.simplest("every").name if comparison.best("every") else "none",
        ]
        for comparison in judged
    ]


def write_click_models(comparison: ClickModelComparison, folder: Path, *, source: str = "a click log") -> Path:
    """Write `click_models.html` and `click_models.json`.

    Parameters
    ----------
    comparison
        The result of `compare_click_models`.
    folder
        The folder of both files; it is created if it does not exist.
    source
        The name of the log in the title.

    Returns
    -------
    Path
        The path of the page.
    """
    together, comparisons = comparison.overall, comparison.placements
    folder.mkdir(parents=True, exist_ok=True)
    numbers = comparison.to_dict()
    with replacing(folder / "click_models.json") as file:
        file.write(json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False).encode())
    every = placement_rows(comparisons) if len(comparisons) > 1 else []
    write_page(
        folder / "click_models.html",
        "logs/reporting/click_models.html",
        title=f"How people click in {source}",
        found=together,
        rows=rows(together) if together.held_out else [],
        placements=every[:LISTED],
        more=max(0, len(every) - LISTED),
        cited=[(model.name, choice_model(model.id).citation) for model in together.models],
    )
    return folder / "click_models.html"
