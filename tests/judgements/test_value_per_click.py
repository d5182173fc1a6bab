"""The value of a click."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.judgements import CellCounts, judge_counts
from slotwise.judgements.value_per_click import click_values


def _counts(rng: np.random.Generator, chances: FloatArray, clicks: int) -> CellCounts:
    """One query of documents with as many clicks each, that are purchased with these chances."""
    number = len(chances)
    bought = rng.binomial(clicks, chances).astype(np.float64)
    shown, hits = np.full((1, number), 10.0 * clicks), np.full((1, number), float(clicks))
    names = tuple(f"d{document}" for document in range(number))
    return CellCounts(
        ("q",),
        np.array([10.0 * clicks]),
        np.zeros(number, np.int64),
        names,
        shown,
        hits,
        {},
        np.array([bought, bought]),
    )


def test_equal_documents_have_nearly_equal_values() -> None:
    """Shares of five clicks vary by chance alone: the mean square error must be a tenth of theirs or less.

    The share of variance between 400 documents is 0 with a standard error of 0.035 of the total, so that the square of
    the shrinkage, 0.01 at 2.8 standard errors, passes with a probability above 0.997; the seed is fixed.
    """
    counts = _counts(np.random.default_rng(3), np.full(400, 0.3), 5)
    assert counts.values is not None
    values = click_values(counts)
    raw = counts.values[0] / 5.0 / values.mean
    assert values.relative.var() < 0.1 * raw.var()


def test_different_documents_keep_their_values() -> None:
    chances = np.repeat([0.05, 0.95], 100)
    values = click_values(_counts(np.random.default_rng(4), chances, 20))
    assert np.corrcoef(values.relative, chances)[0, 1] > 0.95
    assert (values.relative[100:] > values.relative[:100].max()).all()


def test_uncertainty_covers_the_truth() -> None:
    """Normal 95 % intervals around 400 values cover between 92 and 98 %: three standard errors of 0.011."""
    rng = np.random.default_rng(5)
    chances = rng.beta(4.0, 4.0, 400)
    values = click_values(_counts(rng, chances, 30))
    middle, error = values.relative * values.mean, np.sqrt(values.uncertainty) * values.relative * values.mean
    assert 0.92 < np.mean(np.abs(middle - chances) < 1.96 * error) < 0.98


def test_by_value_the_more_valuable_document_is_first() -> None:
    counts = _counts(np.random.default_rng(6), np.repeat([0.1, 0.9], 30), 40)
    clicks, value = judge_counts(counts), judge_counts(counts, by="value")
    assert np.ptp(clicks.relevance) < 1e-9
    assert value.relevance[30:].min() > value.relevance[:30].max()
    low, high = value.interval()
    assert ((low < value.relevance) & (value.relevance < high)).all()
    # by value, there are two sources of uncertainty
    narrow, wide = clicks.interval()
    assert (high / low > wide / narrow).all()


def test_without_values_there_are_no_judgements_by_value() -> None:
    counts = _counts(np.random.default_rng(6), np.zeros(3), 4)
    with pytest.raises(InvalidInput, match="a value above 0"):
        judge_counts(counts, by="value")
    without = CellCounts(*[getattr(counts, name) for name in list(counts.__dataclass_fields__)[:-1]])
    with pytest.raises(InvalidInput, match="need values"):
        judge_counts(without, by="value")
    with pytest.raises(InvalidInput, match="by must be"):
        judge_counts(without, by="sales")
