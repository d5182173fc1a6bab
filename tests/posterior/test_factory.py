"""The hierarchical posterior: segments, pending rounds, lists that leave the table, and priors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY, FloatArray
from slotwise.jit import is_record
from slotwise.posterior import HierarchicalPosterior, draw_parameters, update, update_by_tally
from slotwise.posterior.counts import fold_rarest, weigh_lists
from slotwise.posterior.feature_regression import use_fit, weigh_evidence
from slotwise.posterior.hyperparameters import fit_bias, learn_levels, refit, sum_passes, use_segment
from slotwise.posterior.posterior_interface import add_pending, remove_pending, set_segment
from slotwise.posterior.sampling import draw_for_segment, draw_shared
from slotwise.posterior.updates import refresh
from tests.posterior.plain_posterior import drawn_rounds, list_sum, parts, plain_hierarchical_posterior
from tests.statistical_assertions import assert_mean_is

BIAS = np.array([1.0, 0.6, 0.3])
ALPHA = np.array([0.6, 0.2, 0.4, 0.1])


def _after(segments: int, rounds: int, seed: int, **options: Any) -> HierarchicalPosterior:
    """Segments that prefer the items in turn, and visit in turn."""
    posterior, rng = (
        plain_hierarchical_posterior(PolicyTask(3, 4, 1_000, segments=segments), **options),
        np.random.default_rng(seed),
    )
    for segment in range(segments):
        set_segment(posterior, segment)
        for ranking, clicked in drawn_rounds(np.outer(BIAS, np.roll(ALPHA, segment)), rounds, rng):
            update(posterior, ranking, clicked)
    for _ in range(5):
        refresh(posterior, 1)
    return posterior


def _fields(value: Any) -> dict[str, Any]:
    """Copies of all fields of a plain record."""
    found: dict[str, Any] = {}
    for name in inspect.get_annotations(type(value)) or type(value).__slots__:
        field = getattr(value, name)
        found[name] = field.copy() if isinstance(field, np.ndarray) else _fields(field) if is_record(field) else field
    return found


def _assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, value in one.items():
        if isinstance(value, dict):
            _assert_same(value, other[name])
        else:
            assert np.array_equal(value, other[name], equal_nan=True), name


def _drawn(posterior: HierarchicalPosterior, seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    draw_shared(posterior, rng)
    draw_for_segment(posterior, rng)
    return posterior.shape.copy(), posterior.rate.copy()


@pytest.mark.parametrize("segments", [1, 3])
@pytest.mark.parametrize("passes", ["hard", "soft"])
def test_pending_rounds_that_are_removed_leave_no_trace(segments: int, passes: str) -> None:
    posterior = _after(segments, 100, seed=1, passes=passes)
    shape, rate = _drawn(posterior, 2)
    before = _fields(posterior)
    lists = [np.array(ranking) for ranking in ([0, 1, 2], [3, EMPTY, 1], [0, 1, 2])]
    for ranking in lists:
        add_pending(posterior, ranking)
    narrowed_shape, narrowed_rate = _drawn(posterior, 2)
    assert (narrowed_shape > shape).all()
    assert (narrowed_rate > rate).all()
    for ranking in reversed(lists):
        remove_pending(posterior, ranking)
    assert [x.tolist() for x in _drawn(posterior, 2)] == [shape.tolist(), rate.tolist()]
    after = _fields(posterior)
    for state in (before, after):
        assert not state.pop("is_current")
    _assert_same(before, after)


def test_pending_rounds_narrow_the_posterior_and_keep_its_mean() -> None:
    """As if it had gone as expected: E passes more for a rate of E, and as many clicks as leave the mean."""
    posterior = _after(1, 200, seed=3)
    shape, rate = _drawn(posterior, 4)
    bias = posterior.position_bias.copy()
    for _ in range(50):
        add_pending(posterior, np.array([0, 1, 2]))
    later_shape, later_rate = _drawn(posterior, 4)
    assert later_shape / later_rate == pytest.approx(shape / rate, rel=1e-12)
    passed = 50 * (posterior.counts.no_clicks + 1.0) / (posterior.counts.rounds + 2.0)
    assert later_rate - rate == pytest.approx(np.append(passed * bias, 0.0), rel=1e-9, abs=1e-9)
    # the variance of the three on the list shrinks, that of the other stays
    assert ((later_shape / later_rate**2) < (shape / rate**2)).tolist() == [True, True, True, False]


def test_pending_rounds_narrow_segments_likewise() -> None:
    posterior = _after(3, 60, seed=5)
    set_segment(posterior, 1)
    samples = []
    for flying in (0, 400):
        for _ in range(flying):
            add_pending(posterior, np.array([0, 1, 2]))
        rng = np.random.default_rng(6)
        drawn = []
        for _ in range(1_500):
            draw_shared(posterior, rng)
            draw_for_segment(posterior, rng)
            # a random part of the mean is that of the bias: it is the same for both
            drawn.append(np.log(rng.standard_gamma(posterior.shape) / posterior.rate))
        samples.append(np.array(drawn))
    before, after = (one.std(axis=0) for one in samples)
    assert (after[:3] < 0.9 * before[:3]).all()
    assert after[3] == pytest.approx(before[3], rel=0.1)
    # in logs a narrower Gamma is a little higher, by half of the variance that it lost
    assert_mean_is((before**2 - after**2)[:3] / 2, (samples[1] - samples[0].mean(axis=0))[:, :3])


def test_a_round_is_learned_by_the_segment_that_saw_it() -> None:
    posterior, rng = plain_hierarchical_posterior(PolicyTask(3, 4, 1_000, segments=3)), np.random.default_rng(7)
    for segment, clicks in ((0, 20), (2, 5), (0, 3)):
        set_segment(posterior, segment)
        for _ in range(clicks):
            draw_parameters(posterior, rng)
            update(posterior, np.array([segment, 3, 1]), 0)
            update(posterior, np.array([segment, 3, 1]), NO_CLICK)
    assert posterior.counts.clicks[0].tolist() == [[23, 0, 0, 0], [0, 0, 0, 0], [0, 0, 5, 0]]
    assert posterior.counts.slot_clicks[0, :, 0].tolist() == [23, 0, 5]
    for segment in (0, 1, 2, 0):
        set_segment(posterior, segment)
        draw_parameters(posterior, rng)
        assert posterior.shape == pytest.approx(
            posterior.segments.similarity + posterior.counts.clicks[0, segment], rel=1e-12
        )
        expected = (
            posterior.segments.similarity / posterior.draw.level
            + posterior.counts.passes[segment] @ posterior.position_bias
        )
        assert posterior.rate == pytest.approx(expected, rel=1e-12)


def test_segments_that_differ_are_estimated_apart_and_a_new_one_starts_from_the_levels() -> None:
    posterior = plain_hierarchical_posterior(PolicyTask(3, 4, 1_000, segments=3))
    rng = np.random.default_rng(8)
    alpha = np.array([[0.8, 0.1, 0.3, 0.05], [0.1, 0.8, 0.3, 0.05]])
    for segment in (0, 1):
        set_segment(posterior, segment)
        for ranking, clicked in drawn_rounds(np.outer(BIAS, alpha[segment]), 1_500, rng):
            update(posterior, ranking, clicked)
    for _ in range(5):
        refresh(posterior, 1)
    for segment in (0, 1):
        scaled = posterior.segments.mean[segment] * posterior.segments.mean_bias[segment, 0]
        assert scaled == pytest.approx(alpha[segment], rel=0.25, abs=0.03)
    use_segment(posterior.items, posterior.segments, 2)
    # never shown anything: no deviation, and the level of each item, which is between the other segments
    assert posterior.segments.deviation[2].tolist() == [1.0] * 4
    assert posterior.segments.mean[2] == pytest.approx(posterior.segments.level, rel=1e-12)
    low, high = posterior.segments.mean[:2].min(axis=0), posterior.segments.mean[:2].max(axis=0)
    assert ((0.8 * low < posterior.segments.mean[2]) & (posterior.segments.mean[2] < 1.2 * high)).all()
    assert posterior.segments.mean[2, 3] < 0.5 * posterior.segments.mean[2, :3].min()
    # as uncertain as segments differ
    set_segment(posterior, 2)
    draw_parameters(posterior, rng)
    assert posterior.shape == pytest.approx(np.full(4, posterior.segments.similarity))
    assert posterior.segments.similarity < 5.0


@pytest.mark.parametrize("segments", [1, 2])
def test_a_new_item_starts_at_the_prediction_of_its_features(segments: int) -> None:
    rng, items = np.random.default_rng(9), 40
    features = rng.normal(size=(items, 2))
    features[-2:] = [[1.5, 0.0], [-1.5, 0.0]]
    alpha = np.exp(-1.5 + features @ [0.8, 0.0]) * rng.gamma(8.0, 1 / 8.0, items)
    task = PolicyTask(1, items, 1_000, np.ones(1), segments=segments, features=features)
    posterior = plain_hierarchical_posterior(task, passes="hard")
    passes = np.full((1, items), 100.0)
    passes[:, -2:] = 0.0
    for _ in range(3):
        update_by_tally(posterior, rng.poisson(alpha * passes).astype(float), passes)
    assert posterior.segments.mean[0, -2:] == pytest.approx(np.exp([-1.5 + 1.2, -1.5 - 1.2]), rel=0.35)
    # drawn with the weights: the log of both is normal around the prediction
    drawn = []
    for _ in range(500):
        draw_shared(posterior, rng)
        drawn.append(np.log(posterior.items.shape / posterior.draw.prior_rate[-2:]))
    sd = np.sqrt(np.diag(posterior.items.featured.root @ posterior.items.featured.root.T))
    assert_mean_is(np.log(posterior.items.mean[-2:]), drawn)
    assert np.std(drawn, axis=0) == pytest.approx(np.hypot(sd[0], 1.5 * sd[1]), rel=0.35)


def test_draws_have_the_mode_and_covariance_of_the_bias() -> None:
    posterior, rng = _after(1, 150, seed=10), np.random.default_rng(11)
    drawn = []
    for _ in range(1_500):
        draw_shared(posterior, rng)
        drawn.append(np.log(posterior.draw.position_bias))
    assert_mean_is(posterior.bias.mode, drawn)
    assert_mean_is(np.diag(posterior.bias.root @ posterior.bias.root.T), (np.array(drawn) - posterior.bias.mode) ** 2)


@pytest.mark.parametrize("boldness", [1.0, 4.0])
def test_bold_draws_are_as_narrow_as_with_more_evidence(boldness: float) -> None:
    """Of the bias and of the weights of features: the standard deviation of a draw is divided by √boldness."""
    task = PolicyTask(3, 4, 1_000, features=np.array([[-1.0], [0.5], [1.0], [2.0]]))
    posterior = plain_hierarchical_posterior(task, boldness=boldness)
    use_fit(posterior.items, True)
    posterior.bias.root[:] = np.diag([0.3, 0.2, 0.1])
    rng, weights, biases = np.random.default_rng(20), [], []
    for _ in range(2_000):
        draw_shared(posterior, rng)
        weights.append(posterior.draw.weights[1])
        biases.append(np.log(posterior.draw.position_bias[0]))
    # six standard errors
    near = 6.0 / np.sqrt(4_000)
    assert np.std(weights) == pytest.approx(posterior.items.featured.root[1, 1] / np.sqrt(boldness), rel=near)
    assert np.std(biases) == pytest.approx(0.3 / np.sqrt(boldness), rel=near)


LEVEL_SHAPE, LEVEL_MEAN, OWN = 2.0, 0.5, 4.0
PART_CLICKED = np.array([[0.5, 0.1, 0.3], [0.3, 0.2, 0.9], [0.8, 0.1, 0.2]])


def _three_segments(passed: float, **options: Any) -> HierarchicalPosterior:
    """λ is known, s, μ and κ are held, and all segments have the same position bias."""
    clicks = np.round(passed * PART_CLICKED)
    posterior = plain_hierarchical_posterior(PolicyTask(1, 3, 100, np.ones(1), segments=3), passes="hard", **options)
    posterior.segments.slot_similarity, posterior.items.shape, posterior.items.mean[:] = 1e9, LEVEL_SHAPE, LEVEL_MEAN
    posterior.counts.item_rounds[:], posterior.segments.is_used[:] = 1.0, True
    posterior.counts.clicks[0], posterior.counts.slot_clicks[0], posterior.counts.passes[:] = (
        clicks,
        clicks.sum(axis=1, keepdims=True),
        passed,
    )
    fit_bias(*parts(posterior))
    for _ in range(200):
        posterior.segments.similarity = OWN
        learn_levels(posterior.counts, posterior.items, posterior.segments)
    posterior.segments.similarity = OWN
    weigh_evidence(posterior.counts, posterior.items, posterior.segments)
    sum_passes(posterior.items, posterior.segments, posterior.counts.passes, posterior.segments.level_passes, False)
    return posterior


@pytest.mark.parametrize("passed", [15.0, 150.0])
def test_the_level_of_an_item_has_its_posterior_with_deviations_integrated_out(passed: float) -> None:
    """Against the posterior of log m with ε integrated out, on a grid."""
    s, mean, own = LEVEL_SHAPE, LEVEL_MEAN, OWN
    clicks, posterior = np.round(passed * PART_CLICKED), _three_segments(passed)
    rng, drawn = np.random.default_rng(14), []
    for _ in range(2_000):
        draw_shared(posterior, rng)
        drawn.append(np.log(posterior.draw.level))
    grid = np.linspace(-6.0, 3.0, 3_001)[:, None]
    density = s * grid - s / mean * np.exp(grid)
    for row in clicks:
        density = density + row * grid - (own + row) * np.log(own + np.exp(grid) * passed)
    weight = np.exp(density - density.max(axis=0))
    weight /= weight.sum(axis=0)
    centre = (weight * grid).sum(axis=0)
    sd = np.sqrt((weight * (grid - centre) ** 2).sum(axis=0))
    # a Gamma leans to the left, in logs, and this posterior to the right: its mean is off by a quarter of its sd
    assert np.mean(drawn, axis=0) == pytest.approx(centre, abs=0.3 * sd.max())
    # the standard error of an sd from 2,000 draws is 1.6 %
    assert np.std(drawn, axis=0) == pytest.approx(sd, rel=0.15)


def _sums(posterior: HierarchicalPosterior) -> list[FloatArray]:
    segments, pending = posterior.segments, posterior.pending
    sums = (segments.level_clicks, segments.evidence_clicks, segments.level_passes, pending.level_passes)
    return [array.copy() for array in sums]


def test_sums_over_segments_are_kept_up_to_date_by_rounds_tallies_and_pending_rounds() -> None:
    posterior, rng = _after(3, 100, seed=21, passes="hard"), np.random.default_rng(22)
    posterior.refit_at = np.inf
    for segment in (2, 0, 1):
        set_segment(posterior, segment)
        for ranking, clicked in drawn_rounds(np.outer(BIAS, ALPHA), 30, rng):
            update(posterior, ranking, clicked)
            add_pending(posterior, ranking)
        remove_pending(posterior, ranking)
        update_by_tally(posterior, rng.integers(0, 9, (3, 4)), rng.integers(0, 9, (3, 4)))
    kept, (counts, _, items, segments), pending = _sums(posterior), parts(posterior), posterior.pending
    weigh_evidence(counts, items, segments)
    sum_passes(items, segments, counts.passes, segments.level_passes, False)
    sum_passes(items, segments, pending.by_slot, pending.level_passes, True)
    for one, other in zip(kept, _sums(posterior), strict=True):
        assert one == pytest.approx(other, rel=1e-9)


def test_a_decision_reads_no_other_segment() -> None:
    posterior = _after(3, 100, seed=23)
    set_segment(posterior, 1)
    shape, rate = _drawn(posterior, 24)
    counts, segments, pending = posterior.counts, posterior.segments, posterior.pending
    for array in (counts.clicks[0], counts.passes, segments.deviation, segments.exposure, pending.by_slot):
        array[[0, 2]] = np.nan
    assert [x.tolist() for x in _drawn(posterior, 24)] == [shape.tolist(), rate.tolist()]


def test_lists_are_folded_without_losing_a_round() -> None:
    """At estimates that stay, passes are Σ T/(1+S) by hand, however often the table was full."""
    posterior, rng = (
        plain_hierarchical_posterior(PolicyTask(3, 5, 1_000, segments=2), room=12),
        np.random.default_rng(12),
    )
    posterior.segments.mean[:] = rng.uniform(0.1, 1.0, (2, 5))
    posterior.segments.mean_bias[:] = rng.uniform(0.2, 1.0, (2, 3))
    expected, folds = np.zeros((2, 5, 3)), 0
    for _ in range(600):
        ranking, segment = rng.permutation(5)[:3], int(rng.integers(0, 2))
        if rng.random() < 0.2:
            ranking[1] = EMPTY
        set_segment(posterior, segment)
        update(posterior, ranking, int(rng.integers(-1, 1)))
        for slot, item in enumerate(ranking):
            if item != EMPTY:
                expected[segment, item, slot] += 1.0 / (1.0 + list_sum(posterior, segment, ranking))
        if posterior.counts.lists.count == 12 and rng.random() < 0.2:
            fold_rarest(posterior.counts, posterior.segments)
            folds += 1
            assert posterior.counts.lists.count < 12
    assert folds > 10
    assert posterior.counts.passes == pytest.approx(expected, rel=1e-9)
    weigh_lists(posterior.counts, posterior.segments, 0, posterior.counts.passes)
    assert posterior.counts.passes == pytest.approx(expected, rel=1e-9)


def test_rounds_and_their_tally_give_the_same_posterior() -> None:
    """With hard passes; soft ones use more than a tally has."""
    one, other = (plain_hierarchical_posterior(PolicyTask(3, 4, 1_000), passes="hard") for _ in range(2))
    clicks, passes = np.zeros((3, 4)), np.zeros((3, 4))
    for ranking, clicked in drawn_rounds(np.outer(BIAS, ALPHA), 300, np.random.default_rng(13)):
        update(one, ranking, clicked)
        if clicked == NO_CLICK:
            passes[np.arange(3), ranking] += 1.0
        else:
            clicks[clicked, ranking[clicked]] += 1.0
    update_by_tally(other, clicks, passes)
    for name in ("clicks", "slot_clicks", "passes", "unlisted_passes", "rounds", "no_clicks"):
        assert np.array_equal(getattr(one.counts, name), getattr(other.counts, name)), name
    for posterior in (one, other):
        for _ in range(10):
            refresh(posterior, 1)
    assert one.bias.mode == pytest.approx(other.bias.mode, abs=1e-4)
    assert one.segments.mean == pytest.approx(other.segments.mean, rel=1e-3)


def test_a_tally_of_one_segment_of_two_gives_nearly_the_estimates_of_one_segment() -> None:
    rng, items, bias = np.random.default_rng(9), 40, np.array([1.0, 0.5])
    alpha, passes = np.exp(rng.normal(-1.5, 0.8, items)), np.full((2, items), 100.0)
    clicks = rng.poisson(np.outer(bias, alpha) * passes).astype(float)
    means = []
    for segments in (1, 2):
        posterior = plain_hierarchical_posterior(PolicyTask(2, items, 1_000, bias, segments=segments), passes="hard")
        update_by_tally(posterior, clicks, passes)
        means.append(posterior.segments.mean[0] * posterior.segments.mean_bias[0, 0])
    assert means[1] == pytest.approx(means[0], rel=0.1)


def test_passes_are_hard_or_soft() -> None:
    with pytest.raises(InvalidInput, match="passes must be hard or soft, got 'medium'"):
        plain_hierarchical_posterior(PolicyTask(2, 4, 10), passes="medium")


def _with_pairs(features: FloatArray, alpha: FloatArray, seed: int) -> HierarchicalPosterior:
    """After 100 passes and their clicks of every item in one slot, in all segments, except of the last item."""
    rng, (segments, items) = np.random.default_rng(seed), alpha.shape
    posterior = plain_hierarchical_posterior(
        PolicyTask(1, items, 1_000, np.ones(1), segments=segments, features=features), passes="hard"
    )
    passes = np.full((1, items), 100.0)
    passes[:, -1] = 0.0
    for segment in range(segments):
        set_segment(posterior, segment)
        update_by_tally(posterior, rng.poisson(alpha[segment] * passes).astype(float), passes)
    for _ in range(3):
        refit(*parts(posterior))
    return posterior


def test_an_item_starts_at_the_prediction_of_its_features_in_the_segment() -> None:
    """One feature of items and one of pairs; of an item that nobody saw both are known."""
    rng, weights, segments, items = np.random.default_rng(10), np.array([-1.5, 0.6, 0.8]), 4, 20
    scores = []
    for seed in range(16):
        of_pairs = rng.normal(size=(segments, items))
        # no item is more by it to everybody, so that items alone teach nothing of its weight
        of_pairs -= of_pairs.mean(axis=0)
        features = np.dstack([np.tile(rng.normal(size=items), (segments, 1)), of_pairs])
        mean = np.exp(weights[0] + features @ weights[1:])
        own = rng.gamma(10.0, 0.1, items) * rng.gamma(20.0, 1 / 20.0, (segments, items))
        posterior = _with_pairs(features, mean * own, seed)
        assert np.log(posterior.segments.mean[:, -1]) == pytest.approx(np.log(mean[:, -1]), abs=0.8)
        assert np.std(np.log(posterior.segments.mean[:, -1])) > 0.2
        sd = np.sqrt(np.diag(posterior.items.featured.root @ posterior.items.featured.root.T))
        scores.append((posterior.items.featured.weights - weights) / sd)
    found = np.array(scores)
    # the ridge and the constant's pseudo-items move it by less than half a standard deviation
    assert_mean_is(np.clip(found.mean(axis=0), -0.5, 0.5), found)
    # χ² of 48 scores, nearly independent: its 99.99 % interval, and a margin for the approximation
    assert 0.35 < (found**2).mean() < 2.1


def test_features_that_are_the_same_in_all_segments_are_features_of_items() -> None:
    rng = np.random.default_rng(11)
    features, alpha = rng.normal(size=(6, 2)), rng.gamma(2.0, 0.2, (3, 6))
    of_items, of_pairs = _with_pairs(features, alpha, 1), _with_pairs(np.array([features] * 3), alpha, 1)
    for name in ("mean", "deviation", "level"):
        assert getattr(of_pairs.segments, name) == pytest.approx(getattr(of_items.segments, name), rel=1e-9), name
    assert of_pairs.items.segment_mean == pytest.approx(of_items.items.segment_mean, rel=1e-9)
    assert of_pairs.items.featured.weights == pytest.approx(of_items.items.featured.weights, rel=1e-9)
    assert (of_items.items.segment_mean == 1.0).all()


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((2, 4, 1)), r"features must be of each of the 1 segments, got shape \(2, 4, 1\)"),
        (np.ones((3, 2)), r"features must have a row for each of the 4 items, got shape \(3, 2\)"),
        (np.ones(4), r"features must have a row for each of the 4 items, got shape \(4,\)"),
        (np.full((4, 1), np.nan), "features must be finite numbers"),
    ],
)
def test_features_that_do_not_fit_are_refused(features: FloatArray, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        plain_hierarchical_posterior(PolicyTask(2, 4, 10, features=features))


PRIORS = ("own_taste", "own_slots", "ridge", "bias_shape", "boldness", "new_items_at_most")


@pytest.mark.parametrize("option", PRIORS)
def test_wrong_priors_are_refused_by_name(option: str) -> None:
    for wrong in (0.0, -1.0, float("nan"), "much", None):
        with pytest.raises(InvalidInput, match=option):
            plain_hierarchical_posterior(PolicyTask(2, 4, 10), **{option: wrong})
    if option == "new_items_at_most":
        with pytest.raises(InvalidInput, match=r"new_items_at_most must be at most 1, got 1\.5"):
            plain_hierarchical_posterior(PolicyTask(2, 4, 10), new_items_at_most=1.5)
