from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.jit.background_compile import compiling
from slotwise.ranker import Learner
from slotwise.ranker import policy_runner as module

IDS = ["a", "b", "c", "d"]


def _clicked(shown: tuple[str, ...], taste: dict[str, float], rng: np.random.Generator) -> str | None:
    """Two slots, the second half as visible as the first."""
    weights = np.array([1.0, *(bias * taste[item] for bias, item in zip((1.0, 0.5), shown, strict=False))])
    picked = int(rng.choice(len(weights), p=weights / weights.sum()))
    return shown[picked - 1] if picked else None


def test_segments_with_opposite_tastes_are_shown_different_lists() -> None:
    """The last hundred lists of each are the best one but for a few: the seed is fixed, and so is the outcome."""
    tastes = dict(zip(IDS, (1.5, 0.8, 0.2, 0.1), strict=True)), dict(zip(IDS, (0.1, 0.2, 0.8, 1.5), strict=True))
    learner, rng = Learner(IDS, 2, segments=2, rng=np.random.default_rng(1)), np.random.default_rng(2)
    last: list[list[tuple[str, ...]]] = [[], []]
    for now in range(4_800):
        segment = now % 2
        shown = learner.choose(segment=segment)
        learner.learn(shown, _clicked(shown, tastes[segment], rng), segment)
        if now >= 4_600:
            last[segment].append(shown)
    assert np.mean([shown == ("a", "b") for shown in last[0]]) > 0.8
    assert np.mean([shown == ("d", "c") for shown in last[1]]) > 0.8
    assert learner.best_list(0) == ("a", "b")
    assert learner.best_list(1) == ("d", "c")
    of_all, of_first = learner.estimates(), learner.estimates(segment=0)
    assert of_all.clicks.sum() == learner.tally().clicks.sum() > of_first.clicks.sum() > 0
    assert learner.tally() == learner.tally(0) + learner.tally(1)
    # the first segment sees d a few times only, so that its interval stays wide
    assert of_first["a"].low > of_first["d"].attractiveness


def test_a_new_segment_starts_from_the_tastes_of_the_others() -> None:
    learner = Learner(IDS, 2, segments=2, rng=np.random.default_rng(3))
    seen = np.array([[50, 5, 5, 5], [20, 3, 3, 3]]), np.full((2, 4), 100)
    for segment in (0, 1):
        learner.update_from_tally(*seen, segment=segment)
    known = learner.estimates(segment=1)["a"]
    assert learner.add_segment() == 2
    found = learner.estimates(segment=2)
    assert found["a"].clicks == found["a"].shown == 0
    assert found["a"].attractiveness > 3 * found["b"].attractiveness
    assert found["a"].high - found["a"].low > known.high - known.low
    assert learner.best_list(2)[0] == "a"
    lists = learner.choose_several(20, segment=2)
    assert sum("a" in shown for shown in lists) >= 18


def test_for_everybody_equals_a_single_segment() -> None:
    one, two = (Learner(IDS, 2, segments=segments) for segments in (1, 2))
    parts = [(np.full((2, 4), 3 + part), np.full((2, 4), 30)) for part in (0, 1)]
    for segment, part in enumerate(parts):
        one.update_from_tally(*part)
        two.update_from_tally(*part, segment=segment)
    assert two.tally() == one.tally()
    assert two.estimates().to_dict() == one.estimates().to_dict()
    assert two.best_list() == one.best_list()
    assert two.shown.tolist() == one.shown.tolist()


def test_a_new_segment_changes_nothing_for_existing_ones() -> None:
    """The policy starts anew only where it has no room, and then from the same counts."""
    learner, rng = Learner(IDS, 2, segments=3, rng=np.random.default_rng(4)), np.random.default_rng(5)
    for now in range(60):
        shown = learner.choose(segment=now % 3)
        learner.learn(shown, shown[0] if rng.random() < 0.3 else None, now % 3)
    before = [learner.tally(segment) for segment in range(3)]
    at_work = learner._runner.record
    assert learner.add_segment() == 3
    assert learner._runner.record is at_work
    assert learner.add_segment() == 4
    assert learner._runner.record is None
    learner.choose(segment=4)
    assert [learner.tally(segment) for segment in range(3)] == before
    assert learner.tally(4).rounds == 0


def test_pending_lists_belong_to_their_segment() -> None:
    learner = Learner(IDS, 2, segments=2)
    learner.add_pending(["a", "b"], segment=1)
    with pytest.raises(InvalidInput, match=r"no outcome of \['a', 'b'\] is pending of segment 0"):
        learner.remove_pending(["a", "b"], segment=0)
    learner.add("e")  # starts anew, with what is on its way
    learner.choose()
    learner.remove_pending(["a", "b"], segment=1)
    with pytest.raises(InvalidInput, match="is pending of segment 1"):
        learner.remove_pending(["a", "b"], segment=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"segments": 0}, "segments must be at least 1, got 0"),
        ({"segments": 2_001}, "segments must be at most 2000, got 2001"),
        ({"segments": 2.5}, "segments must be a whole number, got 2.5"),
        (
            {"segments": 2, "policy": "pbm-ucb", "position_bias": [1.0, 0.5]},
            "segments is 2, but pbm-ucb does not distinguish",
        ),
        ({"half_life": "auto", "policy": "pbm-ucb", "position_bias": [1.0, 0.5]}, "pbm-ucb has no option half_life"),
        ({"half_life": "soon"}, "half_life must be none, auto or a number of rounds, got 'soon'"),
        ({"half_life": float("nan")}, "half_life must be positive and finite, got nan"),
        ({"half_life": np.array([3.0, 4.0])}, r"half_life must be a number, got array\(\[3., 4.\]\)"),
        ({"half_life": True}, "half_life must be a number, got True"),
        ({"half_life": -3.0}, "half_life must be positive and finite, got -3.0"),
        (
            {"half_life": 100.0, "policy": "thompson-sampling:half_life=5"},
            "half_life is 100.0, but the policy is thompson-sampling",
        ),
        ({"new_items_at_most": 1.5}, "new_items_at_most must be at most 1, got 1.5"),
        (
            {"new_items_at_most": 0.1, "policy": "pbm-ucb", "position_bias": [1.0, 0.5]},
            "new_items_at_most is 0.1, but pbm-ucb has no option",
        ),
    ],
)
def test_options_that_a_policy_lacks_are_rejected_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Learner(IDS, 2, **arguments)


def test_segments_that_are_not_there_are_refused_and_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, nothing = Learner(IDS, 2, segments=2), np.zeros((2, 4), int)
    for call in (
        lambda segment: learner.choose(segment=segment),
        lambda segment: learner.choose_several(2, segment=segment),
        lambda segment: learner.learn(["a"], None, segment),
        lambda segment: learner.add_pending(["a"], segment),
        lambda segment: learner.remove_pending(["a"], segment),
        lambda segment: learner.update_from_tally(nothing, nothing, segment=segment),
        lambda segment: learner.estimates(segment=segment),
        lambda segment: learner.best_list(segment),
        lambda segment: learner.tally(segment),
    ):
        with pytest.raises(InvalidInput, match="segment must be at most 1, got 2"):
            call(2)
        with pytest.raises(InvalidInput, match="segment must be a whole number, got 'mobile'"):
            call("mobile")
    assert learner.tally().rounds == 0
    monkeypatch.setattr(module, "MAX_SEGMENTS", 2)
    with pytest.raises(InvalidInput, match="segments must be at most 2, got one more"):
        learner.add_segment()
    with compiling("never"):
        alike = Learner(IDS, 2, policy="pbm-ucb", position_bias=[1.0, 0.5])
    with pytest.raises(InvalidInput, match="pbm-ucb does not distinguish visitors"):
        alike.add_segment()
    assert alike.segments == 1
    assert len(alike.choose()) == 2


def test_a_restart_has_the_posterior_of_tallies_absorbed_one_by_one() -> None:
    """Before the first decision tallies are only counted; after it each is absorbed. Both believe the same of all."""
    rng = np.random.default_rng(6)
    tallies = [(rng.poisson(5.0, (2, 4)), rng.poisson(40.0, (2, 4))) for _ in range(3)]
    early, late = (Learner(IDS, 2, segments=3, rng=np.random.default_rng(7)) for _ in range(2))
    late.choose()
    for learner in (early, late):
        for segment, tally in enumerate(tallies):
            learner.update_from_tally(*tally, segment=segment)
    assert early._runner.record is None
    early.choose()
    one, other = (learner._runner.for_segment(0).posterior for learner in (early, late))
    assert one.counts.clicks.tolist() == other.counts.clicks.tolist()
    one, other = one.segments, other.segments
    # in the first slot: attractiveness alone has no scale
    first = [(segments.mean * segments.mean_bias[:, :1])[:3] for segments in (one, other)]
    assert first[0] == pytest.approx(first[1], rel=0.02)
    assert early.estimates(segment=1).to_dict() == late.estimates(segment=1).to_dict()


def test_with_many_segments_the_shared_part_is_refitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for each of them: the time that it takes grows with the number of segments itself."""
    times: list[int] = []
    refreshing = importlib.import_module("slotwise.posterior.updates")
    refresh = refreshing.refit

    def counted(*parts: Any) -> None:
        times.append(1)
        refresh(*parts)

    monkeypatch.setattr(refreshing, "refit", counted)
    with compiling("never"):
        learner = Learner(IDS, 2, segments=40)
        for segment in range(40):
            learner.update_from_tally(np.ones((2, 4), int), np.full((2, 4), 9), segment=segment)
        before = len(times)
        learner.choose()
    # five for the start with nothing, five for all segments together, and one for the decision
    assert len(times) - before <= 11
