"""Coverage against independent truths: how the truths are fitted, and the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from research.log_study.simulated_logs import KINDS
from research.log_truths import coverage
from research.log_truths.real_lists import Page, clara, click_anew, fit_truth, query_lists, yandex

PAGES = [
    ("tea", ["a", "b", "c"], ["b"]),
    ("tea", ["b", "a", "c"], ["x", "b", "a"]),
    ("tea", ["b", "a", "c"], []),
]


def test_both_formats_are_read_alike(tmp_path: Path) -> None:
    sessions, pages = tmp_path / "sessions.txt", tmp_path / "pages.tsv"
    sessions.write_text("tea\ta,b,c : b; tea\tb,a,c : x , b , a; tea\tb,a,c :")
    lines = [f"{n}\t{n}\t{query}\t{' '.join(shown)}\t{' '.join(on)}" for n, (query, shown, on) in enumerate(PAGES)]
    pages.write_text("\n".join(["page\tsession\tquery\tdocuments\tclicks", *lines]) + "\n")
    assert list(yandex(sessions)) == list(clara(pages)) == PAGES


def test_the_first_click_on_a_shown_document_counts() -> None:
    (query,) = query_lists(PAGES * 10)
    assert query.shown.tolist() == [[0, 1, 2], [1, 0, 2]]
    assert query.clicks.tolist() == [[0, 10, 0], [10, 0, 0]]
    assert query.times.tolist() == [10, 20]
    assert query_lists(PAGES) == []


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_an_independent_fit_finds_the_parameters_of_much_data(spread: float) -> None:
    """Clicks of 100,000 pages of each of two queries: errors are below 3 %, and 0.15 is ten of them."""
    rng = np.random.default_rng(1)
    pages: list[Page] = [(query, [*map(str, rng.permutation(5)[:3])], []) for query in "ab" for _ in range(400)]
    queries = [query._replace(times=query.times * 250) for query in query_lists(pages)]
    truths = [truth._replace(position_bias=np.array([1.0, 0.6, 0.3])) for truth in fit_truth(queries, 0.0)]
    truths = [truth._replace(attractiveness=np.array([0.2, 0.5, 0.3, 0.4, 0.1])) for truth in truths]
    made = click_anew(queries, truths, rng)
    again = [query._replace(clicks=one.seen.clicks) for query, one in zip(queries, made, strict=True)]
    # rankings are in order, as are the lists of a query if they were sorted before
    order = [np.lexsort(query.shown.T[::-1]) for query in queries]
    again = [
        query._replace(shown=query.shown[rows], times=query.times[rows])
        for query, rows in zip(again, order, strict=True)
    ]
    for truth, found in zip(truths, fit_truth(again, spread), strict=True):
        assert np.log(found.attractiveness) == pytest.approx(np.log(truth.attractiveness), abs=0.15)
        assert np.log(found.position_bias) == pytest.approx(np.log(truth.position_bias), abs=0.15)


def test_the_rows_of_simulated_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "KINDS", {"shop": KINDS["shop"]})
    said: list[str] = []
    slots, items, lists = coverage.rows(quick=True, progress=lambda step, share=None: said.append(step))
    assert (
        slots.name
        == "slots of shop: 10,000 impressions of 5 of 30 items, one in five clicked, better ones mostly first"
    )
    assert (items.floor, items.aim) == ("0.94", "0.95")
    assert lists.value.endswith(")")
    assert said[-2] == "coverage: skipped yandex/sessions.txt, which needs --data FOLDER with that file"


def test_the_rows_of_real_lists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(coverage, "KINDS", {})
    (tmp_path / "yandex").mkdir()
    (tmp_path / "yandex" / "sessions.txt").write_text(
        "; ".join(["tea\ta,b,c : b", "tea\tb,a,c : b", "tea\tb,a,c :"] * 9)
    )
    found = coverage.rows(quick=True, progress=lambda *_: None, data=tmp_path)
    assert len(found) == 3 * len(coverage.SLOT_SPREADS)
    assert found[0].name == "slots of clicks redrawn on the lists of yandex/sessions.txt, shared slots"


def test_intervals_of_small_queries_cover() -> None:
    """Of 95 % intervals 0.97 do, over forty other logs; 0.91 without the sampling variance of covariates."""
    rngs = np.random.default_rng(6).spawn(2)
    shares = [coverage.measure(KINDS["search"].make(rng)).share for rng in rngs]
    assert 0.94 < np.mean(shares, axis=0)[coverage.MEASURED.index("items")] < 0.99


def test_intervals_of_rarely_shown_items_cover() -> None:
    """Over ten other logs 0.98 of the 95 % intervals do; without the covariate of how often items are shown, 0.83."""
    rngs = np.random.default_rng(6).spawn(3)
    shares = [coverage.measure(KINDS["shop"].make(rng)).share for rng in rngs]
    assert np.mean(shares, axis=0)[coverage.MEASURED.index("items")] > 0.9
