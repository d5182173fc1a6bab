from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from slotwise import EMPTY, MNL, NO_CLICK, Ranker, Rankings, Tally, simulate
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.estimators import ESTIMATORS, scaling
from slotwise.logs import Columns, fit, fit_placements, tally
from slotwise.logs.fitting.fit_log import ESTIMATOR_NAMES
from tests.logs.reference_counter import dirty_rows, table
from tests.statistical_assertions import FALSE_ALARM

USERS = MNL(position_bias=[1.0, 0.4, 0.7], attractiveness=[0.3, 0.1, 0.5, 0.2])
PAGES = Columns(placement="page")


def generated(impressions: int, pages: int, seed: int) -> pa.Table:
    """A log of users that choose by USERS, from random lists, on independent pages."""
    rng = np.random.default_rng(seed)
    lists = np.argsort(rng.random((impressions * pages, 4)), axis=1)[:, :3]
    odds = np.asarray(USERS.position_bias) * np.asarray(USERS.attractiveness)[lists]
    shares = np.cumsum(odds, axis=1) / (1.0 + odds.sum(axis=1, keepdims=True))
    clicked = (rng.random((len(lists), 1)) > shares).sum(axis=1)
    return pa.table(
        {
            "page": pa.array(np.repeat(np.arange(len(lists)) % pages, 3)),
            "impression": pa.array(np.repeat(np.arange(len(lists)), 3)),
            "slot": pa.array(np.tile([1, 2, 3], len(lists))),
            "item": pa.array(lists.ravel()),
            "clicked": pa.array((clicked[:, None] == np.arange(3)).ravel()),
            "propensity": pa.array(np.full(3 * len(lists), 1 / 24)),
        }
    )


def test_intervals_have_their_stated_coverage() -> None:
    """Over 150 generated logs, counted in one pass; false alarms: see tests/statistical_assertions.py."""
    found = fit_placements(generated(1_500, pages=150, seed=1), PAGES)
    # six parameters, both sides; the intervals are approximate, so that the chance is that of 94 to 96 %
    low, high = stats.binom.ppf(FALSE_ALARM / 12, len(found), 0.94), stats.binom.isf(FALSE_ALARM / 12, len(found), 0.96)
    for item in range(4):
        covered = sum(bool(one.estimate.intervals().attractiveness.covers(USERS.attractiveness)[item]) for one in found)
        assert low <= covered <= high
    for slot in (1, 2):
        covered = sum(bool(one.estimate.intervals().position_bias.covers(USERS.position_bias)[slot]) for one in found)
        assert low <= covered <= high


def test_an_option_that_is_not_there_is_named() -> None:
    options: Any = {"impresion": "view_id"}
    with pytest.raises(TypeError, match=r"no option 'impresion' for a log; is it 'impression'\?"):
        fit(generated(10, pages=1, seed=1), **options)


def test_lists_match_the_log() -> None:
    log = generated(500, pages=1, seed=2)
    found = fit(log)
    assert found.rankings is not None
    shown = log["item"].to_numpy().reshape(-1, 3)
    hit = log["clicked"].to_numpy().reshape(-1, 3)
    clicked = np.where(hit.any(axis=1), hit.argmax(axis=1), NO_CLICK)
    assert found.rankings == Rankings.of_rounds(shown, clicked, items=4)
    assert found.rankings.tally == found.tally
    assert found.tally == tally(log)


def test_lists_of_a_dirty_log_have_its_tally() -> None:
    for one in fit_placements(table(dirty_rows(5)), Columns(placement="page", order="turn")):
        assert one.rankings is not None
        assert one.rankings.tally == one.tally
        assert (one.rankings.shown == EMPTY).any(), "some lists were short"


def test_the_likelihood_is_that_of_the_lists() -> None:
    found = fit(generated(300, pages=1, seed=3))
    assert found.rankings is not None
    odds = found.odds
    wanted = 0.0
    for shown, clicks, times in zip(found.rankings.shown, found.rankings.clicks, found.rankings.times, strict=True):
        mine = odds[np.arange(3), shown]
        wanted += (clicks * np.log(mine)).sum() - times * np.log1p(mine.sum())
    assert found.log_likelihood == pytest.approx(wanted, rel=1e-12)


def test_a_sample_of_the_lists_is_whole_impressions_and_the_tally_is_of_all() -> None:
    log = generated(2_000, pages=1, seed=4)
    found, all_of_it = fit(log, sample=500, estimator="scaling"), fit(log, estimator="scaling")
    assert found.sampled
    assert not all_of_it.sampled
    assert found.rankings is not None
    assert 400 < found.rankings.rounds < 600
    assert (found.rankings.shown != EMPTY).all()
    assert found.tally == all_of_it.tally
    assert found.log_likelihood == pytest.approx(all_of_it.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATOR_NAMES)
def test_every_estimator(estimator: str) -> None:
    found = fit(generated(3_000, pages=1, seed=5), estimator=estimator)
    assert found.estimate.attractiveness == pytest.approx(USERS.attractiveness, rel=0.25)
    assert found.estimate.converged
    if estimator in ESTIMATORS:
        assert found.rankings is not None
        wanted = ESTIMATORS[estimator](found.rankings)
        assert found.estimate.attractiveness == pytest.approx(wanted.attractiveness)
    with pytest.raises(UnknownName, match="unknown estimator 'scalling': did you mean scaling"):
        fit(generated(10, pages=1, seed=5), estimator="scalling")


def test_estimators_take_the_tally_of_a_log() -> None:
    counted = tally(generated(3_000, pages=1, seed=6))
    assert scaling(counted).attractiveness == pytest.approx(USERS.attractiveness, rel=0.25)
    assert type(counted + counted) is Tally


def test_a_sample_is_of_the_impressions_of_every_placement() -> None:
    """Ids that come again in every placement are different impressions."""
    log = generated(20, pages=200, seed=10)
    again = pa.array(np.repeat(np.arange(4_000) // 200, 3))
    found = fit_placements(log.set_column(1, "impression", again), PAGES, sample=1_000)
    rounds = sum(one.rankings.rounds for one in found if one.rankings is not None)
    assert 800 < rounds < 1_200


def test_inverse_propensity_has_every_impression() -> None:
    found = fit(generated(2_000, pages=1, seed=7), Columns(propensity="propensity"), sample=100)
    assert found.logged is not None
    assert len(found.logged.shown) == 2_000


def test_slots_that_were_never_filled_are_not_recommended() -> None:
    log = generated(2_000, pages=1, seed=11)
    spread = fit(log.set_column(2, "slot", pa.array(np.tile([1, 4, 9], 2_000))))
    assert [slot for slot, item in enumerate(spread.best().items) if item is not None] == [0, 3, 8]


def test_propensities_come_along() -> None:
    log = generated(200, pages=1, seed=7)
    found = fit(log, Columns(propensity="propensity"))
    assert found.logged is not None
    assert found.logged.propensity == pytest.approx(np.full(200, 1 / 24))
    wrong: Any = np.full(600, 1 / 24)
    wrong[1] = 0.5
    with pytest.raises(InvalidInput, match="propensity must be the same in all rows of an impression"):
        fit(log.set_column(5, "propensity", pa.array(wrong)), Columns(propensity="propensity"))


def test_one_fit_needs_one_placement() -> None:
    with pytest.raises(InvalidInput, match="use fit_placements, got placement='page'"):
        fit(generated(10, pages=2, seed=8), PAGES)


def test_a_log_starts_a_ranker_and_a_simulation_warm() -> None:
    counted = tally(generated(20_000, pages=1, seed=9))
    warm = Ranker(items=["3", "2", "1", "0"], slots=3, tally=counted, seed=1)
    # slot 1 before slot 3 before slot 2, and items in the order 2, 0, 3, 1
    best = ("2", "3", "0")
    assert sum(warm.rank().items == best for _ in range(20)) > 15
    assert warm.tally().rounds == counted.rounds
    cold, started = (
        simulate(USERS, "thompson-sampling", rounds=300, replications=10, seed=1, start=start)["thompson-sampling"].mean
        for start in (None, counted)
    )
    assert started < 0.3 * cold


@pytest.mark.parametrize("seed", [1, 2])
def test_the_largest_placements_are_fitted_and_the_others_counted(seed: int) -> None:
    log = generated(40, pages=4, seed=1)
    page = np.asarray(log["page"])
    # page 1 has the fewest rows; of two with as many, the first by name is kept
    kept = (page != 1) | (np.arange(len(page)) < 300)
    shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(kept))
    found = fit_placements(log.take(pa.array(shuffled)), PAGES, max_placements=2)
    assert [one.placement for one in found] == ["0", "2"]
    assert found[0].tally.cleaning["rare_placements"] == 2
    whole = fit_placements(log.filter(pa.array((page == 0) | (page == 2))), PAGES)
    assert [one.tally for one in found] == [one.tally for one in whole]
    assert found[0].log_likelihood == pytest.approx(whole[0].log_likelihood, rel=1e-12)


def test_max_placements_must_be_positive() -> None:
    with pytest.raises(InvalidInput, match="max_placements must be"):
        fit_placements(generated(10, pages=2, seed=1), PAGES, max_placements=0)
