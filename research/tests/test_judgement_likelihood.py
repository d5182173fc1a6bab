"""The likelihood of held-out clicks."""

from __future__ import annotations

import numpy as np
import pytest

from research.judgement_likelihood import MODELS, click_worth, count_kinds, downward, halves, log_likelihoods, topmost
from research.log_truths.real_lists import Page


def _pages(rng: np.random.Generator, number: int) -> list[Page]:
    """Pages of six queries, on which document a is clicked most."""
    pages = []
    for page in range(number):
        documents = [f"{each}" for each in rng.permutation(["a", "b", "c"])]
        clicks = [each for each in documents if rng.random() < (0.6 if each == "a" else 0.1)]
        pages.append((f"q{page % 6}", documents, clicks))
    return pages


def test_topmost_clicks_and_their_probabilities() -> None:
    assert topmost(("q", ["a", "b", "c"], ["c", "b"])) == 1
    assert topmost(("q", ["a", "b", "c"], ["z"])) == 3
    assert downward(np.array([0.5, 0.5])).tolist() == [0.5, 0.25, 0.25]


def test_halves_leave_out_pages_with_a_document_twice() -> None:
    training, held_out = halves([("q", ["a"], []), ("q", ["b", "b"], []), ("q", ["c"], [])])
    assert training == [("q", ["a"], [])]
    assert held_out == [("q", ["c"], [])]


@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_a_distribution_and_better_than_a_guess(model: str) -> None:
    training, held_out = halves(_pages(np.random.default_rng(1), 400))
    predict = MODELS[model](training)
    for query in ("q0", "new"):
        assert predict(query, ["a", "b", "new"]).sum() == pytest.approx(1.0)
    assert log_likelihoods(held_out, predict).mean() > np.log(0.25)


def test_kinds_of_clicks_are_told_apart() -> None:
    pages: list[Page] = [
        ("q", ["a", "b", "c"], ["a", "c", "b"]),
        ("q", ["a", "b", "c"], ["b", "b"]),
        ("r", ["d"], ["d"]),
    ]
    counts = count_kinds(pages, pages[:1]).counts
    assert counts.sum(axis=1).tolist() == [1.0, 1.0, 1.0, 1.0, 1.0]


def test_weights_gain_nothing_if_all_kinds_are_drawn_alike() -> None:
    _, _, gain = click_worth(_pages(np.random.default_rng(2), 600))
    assert gain < 0.005
