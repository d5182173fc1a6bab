"""Results of a log as sentences and tables of text, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from slotwise.logs.counting.cleaning_rules import RULES, SIZES
from slotwise.logs.evaluation.click_model_choice import ClickModelComparison
from slotwise.logs.evaluation.click_model_comparison import ModelComparison
from slotwise.logs.evaluation.off_policy import Evaluation
from slotwise.logs.evaluation.scoring import Scores
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import interval, number, percent, with_interval
from slotwise.logs.reporting import click_model_report, report_tables
from slotwise.logs.reporting.log_summary import LogSummary
from slotwise.logs.reporting.placement_report import PlacementReport
from slotwise.logs.reporting.segment_report import segment_rows

#: rows of a table of items, and of a table of placements
MAX_ITEMS, MAX_PLACEMENTS = 10, 20

#: text, or the first places of a list, which are not broken across lines
Cell = str | Sequence[str]


class TextTable(NamedTuple):
    """A table of text: the first column and lists are aligned to the left, numbers to the right.

    Parameters
    ----------
    heads
        The heads of the columns.
    rows
        Cells by row and column.
    note
        A sentence on the rows that are left out.
    """

    heads: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


#: a paragraph, or a table
Block = str | TextTable


def fit_text(fits: Sequence[Fit], click_model: ModelComparison | None = None) -> list[Block]:
    """Return the results of a fit: of one placement in full, of several in a table.

    Parameters
    ----------
    fits
        The fits of a log.
    click_model
        The comparison of click models, if it was made.
    """
    summary = LogSummary.of(fits)
    blocks: list[Block] = [summary.answer(), summary.size(), ""]
    for line in summary.cautions():
        blocks += [str(line), *(f"- {sentence}" for sentence in line.details)]
    blocks += ["", *map(str, summary.findings())]
    if click_model is not None:
        blocks += [
            f"How do people click? {click_model.in_a_sentence()}",
            "(--click-model compare has the numbers of all models, and --problem-out their users.)",
        ]
    return blocks + (_all_placements(summary) if len(fits) > 1 else _placement(summary.placements[0]))


def _all_placements(summary: LogSummary) -> list[Block]:
    heads = ("placement", "impressions", "click rate", "expected of its list", "shown now", "show instead")
    rows = [
        (
            str(report.fit.placement),
            f"{report.fit.impressions:,}",
            percent(report.fit.click_rate),
            report.expected,
            report.shown_now(),
            report.begins_with(),
        )
        for report in summary.full
    ]
    note = _left_out(len(summary.placements) - len(rows), "placement", "; --json and --out have them all")
    return ["", TextTable(heads, rows, note)]


def _placement(report: PlacementReport) -> list[Block]:
    fit = report.fit
    heads = (
        "slot",
        "shown now",
        "share",
        "best guess" if report.withheld else "show instead",
        "attractiveness",
        "95 % interval",
    )
    rows: list[list[Cell]] = [
        [
            str(row.slot),
            [row.shown_now or "-"],
            percent(row.share),
            [row.show_instead or "-"],
            number(row.attractiveness),
            interval(row.low, row.high),
        ]
        for row in report.comparison
    ]
    # without any list there is nothing to show instead
    columns = len(heads) if report.items else 3
    blocks: list[Block] = [
        "\nShown now (most often, with its share of the impressions), and what to show:",
        TextTable(heads[:columns], [row[:columns] for row in rows]),
        "\nPosition bias of each slot: clicks on an item there, relative to the same item in slot 1.",
        TextTable(("slot", "position bias", "95 % interval", "shown", "clicks"), report_tables.slots([fit]).rows),
        "\nAttractiveness of the items: clicks on an item in slot 1, per impression without a click.",
        TextTable(
            ("item", "attractiveness", "95 % interval", "shown", "clicks"),
            report_tables.items(fit).rows[:MAX_ITEMS],
            _left_out(len(fit.item_ids) - MAX_ITEMS, "item"),
        ),
    ]
    if fit.segments:
        by_segment = ("segment", "impressions", "click rate", "expected of its list", "its list begins with")
        blocks += ["\nBy segment:", TextTable(by_segment, segment_rows(fit))]
    return blocks


def click_model_text(comparison: ClickModelComparison) -> list[Block]:
    """Return which click model describes the log, with the scores of all.

    Parameters
    ----------
    comparison
        The result of `compare_click_models`.
    """
    overall = comparison.overall
    blocks: list[Block] = [
        *overall.in_words(),
        f"\nOn {overall.held_out:,} impressions held out, fitted to {overall.seen:,} others:",
        TextTable(click_model_report.HEADS, click_model_report.rows(overall)),
    ]
    if len(comparison.placements) > 1:
        rows = click_model_report.placement_rows(comparison.placements)
        note = _left_out(len(rows) - MAX_PLACEMENTS, "placement")
        blocks += ["\nBy placement:", TextTable(click_model_report.PLACEMENT_HEADS, rows[:MAX_PLACEMENTS], note)]
    return blocks


def score_text(scores: Scores) -> list[Block]:
    """Return how well a stored fit predicts another log.

    Parameters
    ----------
    scores
        The result of `score`.
    """
    total = scores.total
    ours = next(iter(total.log_likelihood.values()))
    rows = [
        (model, f"{value:.4f}", f"{value - ours:+.4f} ± {error:.4f}" if error else "")
        for (model, value), error in zip(total.log_likelihood.items(), total.standard_error.values(), strict=True)
    ]
    blocks: list[Block] = [
        scores.in_words(),
        f"\n{total.impressions:,} impressions. Log-likelihood per impression, higher is better:",
        TextTable(("model", "log-likelihood", "difference ± standard error"), rows),
    ]
    if scores.sampled:
        blocks.append("From a random sample of the impressions.")
    if total.new_items:
        blocks.append(f"{_count(total.new_items, 'item')} new to the fit, predicted as new items are.")
    new = sum(not each.is_known for each in scores.placements)
    if new:
        blocks.append(f"{_count(new, 'placement')} new to the fit, predicted like the others on average.")
    if len(scores.placements) > 1:
        heads = ("placement", "impressions", *total.log_likelihood)
        by_placement = [
            (str(each.placement), f"{each.impressions:,}", *(f"{value:.4f}" for value in each.log_likelihood.values()))
            for each in scores.placements[:MAX_PLACEMENTS]
        ]
        note = _left_out(len(scores.placements) - MAX_PLACEMENTS, "placement", "; --json has them all")
        blocks += ["", TextTable(heads, by_placement, note)]
    return blocks


def evaluation_text(evaluation: Evaluation) -> list[Block]:
    """Return the expected click rate of a list or a policy by each method, and the warnings.

    Parameters
    ----------
    evaluation
        The result of `evaluate`.
    """
    rates = {"by the fitted model": evaluation.by_model}
    weighted = evaluation.by_propensity
    if weighted is not None:
        rates["by inverse propensity, plain"] = weighted.plain
        rates["by inverse propensity, self-normalised"] = weighted.self_normalised
        if weighted.doubly_robust is not None:
            rates["by both, doubly robust"] = weighted.doubly_robust
    lines = [f"{method:<41}{with_interval(rate)}" for method, rate in rates.items()]
    if evaluation.filled.is_partial and evaluation.as_filled is not None:
        lines.append(f"{'in the slots that the log fills':<41}{with_interval(evaluation.as_filled)}")
    lines.append(f"{'in the log':<41}{percent(evaluation.counted)}")
    warnings = [f"\nNote: {warning}" for warning in evaluation.warnings]
    return [evaluation.in_words(), "\n" + "\n".join(lines), *warnings]


def cleaning_text(counts: Mapping[str, int]) -> list[Block]:
    """Return the irregularities of the log and their treatment; empty if there are none.

    Parameters
    ----------
    counts
        How often each rule of `slotwise.logs.RULES` was applied.
    """
    lines = [f"  {count:>12,}  {RULES[rule]}" for rule, count in counts.items() if count and rule not in SIZES]
    return ["\nIn the log:\n" + "\n".join(lines)] if lines else []


def _left_out(count: int, noun: str, where: str = "") -> str:
    return f"and {count:,} more {noun if count == 1 else noun + 's'}{where}" if count > 0 else ""


def _count(count: int, noun: str) -> str:
    return f"1 {noun} is" if count == 1 else f"{count:,} {noun}s are"
