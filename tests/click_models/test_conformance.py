"""Every registered choice model through the same checks: the next one is tested by being registered."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise import get_policy, simulate
from slotwise.click_models import (
    ChoiceModelEntry,
    best_ranking,
    best_ranking_by_brute_force,
    choice_model,
    click_probabilities,
    click_rates,
    draw,
    draw_clicks,
    first_click,
    may_click_several,
    probability_of,
    regret,
    reward,
)
from slotwise.core.errors import InvalidInput, InvalidRanking, UnknownName
from slotwise.core.types import BoolArray
from slotwise.environments import problem
from slotwise.jit import interpreted
from tests.registered_components import choice_models
from tests.statistical_assertions import assert_frequencies

every_model = pytest.mark.parametrize("model", choice_models(), ids=lambda model: model.id)


def _users(model: ChoiceModelEntry) -> Any:
    return model.make(**model.example)


def _rankings(users: Any) -> list[Any]:
    return [np.array(ranking) for ranking in itertools.permutations(range(users.items), users.slots)]


def _click_sets(users: Any) -> BoolArray:
    """Every way to click, or not."""
    return np.array(list(itertools.product([False, True], repeat=users.slots)))


@pytest.mark.usefixtures("interpreting")
@every_model
def test_its_answers_follow_from_the_law_of_its_clicks(model: ChoiceModelEntry) -> None:
    """The first click, the clicks on each slot and their expected number, from the probability of every click set."""
    users = _users(model)
    assert 1 < users.slots < users.items <= 6, "the example should have a choice, and be small"
    sets = _click_sets(users)
    for ranking in _rankings(users):
        law = np.array([probability_of(users, ranking, clicks) for clicks in sets])
        assert (law >= 0).all()
        assert law.sum() == pytest.approx(1.0)
        assert click_rates(users, ranking) == pytest.approx(law @ sets)
        assert reward(users, ranking) == pytest.approx((law @ sets).sum())
        first = np.zeros(users.slots + 1)
        np.add.at(first, [first_click(clicks) for clicks in sets], law)
        assert click_probabilities(users, ranking) == pytest.approx(first)
        assert may_click_several(users) or law[sets.sum(axis=1) > 1].max() == 0.0


@pytest.mark.usefixtures("interpreting")
@every_model
def test_draws_have_the_choice_probabilities(model: ChoiceModelEntry) -> None:
    users, rng = _users(model), np.random.default_rng(1)
    for ranking in _rankings(users)[:: len(_rankings(users)) - 1]:
        clicked = np.array([draw(users, ranking, rng) for _ in range(10_000)])
        counts = np.bincount(clicked % (users.slots + 1), minlength=users.slots + 1)
        assert_frequencies(click_probabilities(users, ranking), counts)


@pytest.mark.usefixtures("interpreting")
@every_model
def test_drawn_clicks_have_the_law_of_its_clicks(model: ChoiceModelEntry) -> None:
    """All slots together: clicks that are each as frequent as they should be may still not be independent."""
    users, rng = _users(model), np.random.default_rng(6)
    sets, clicks = _click_sets(users), np.zeros(users.slots, np.bool_)
    for ranking in _rankings(users)[:: len(_rankings(users)) - 1]:
        counts = np.zeros(len(sets))
        for _ in range(10_000):
            draw_clicks(users, ranking, clicks, rng)
            counts[int(clicks @ (1 << np.arange(users.slots)[::-1]))] += 1
        possible = np.array([probability_of(users, ranking, one) for one in sets])
        assert counts[possible == 0.0].sum() == 0
        assert_frequencies(possible[possible > 0.0], counts[possible > 0.0])


@pytest.mark.usefixtures("interpreting")
@every_model
def test_invalid_clicks_are_rejected(model: ChoiceModelEntry) -> None:
    users = _users(model)
    if may_click_several(users):
        for clicks in ([True], [0] * users.slots):
            with pytest.raises(InvalidInput, match=f"clicks must be True or False for each of the {users.slots} slots"):
                probability_of(users, best_ranking(users), clicks)


@pytest.mark.usefixtures("interpreting")
@every_model
def test_the_best_ranking_is_best(model: ChoiceModelEntry) -> None:
    users = _users(model)
    best = reward(users, best_ranking(users))
    assert best == pytest.approx(reward(users, best_ranking_by_brute_force(users)), abs=1e-12)
    assert min(regret(users, ranking) for ranking in _rankings(users)) == pytest.approx(0.0, abs=1e-12)


@every_model
@pytest.mark.parametrize("ranking", [[0], [0, 0], "ab", [0.0, 1.0]], ids=str)
def test_invalid_rankings_are_rejected(model: ChoiceModelEntry, ranking: Any) -> None:
    users = _users(model)
    for ask, more in ((click_probabilities, ()), (draw, (np.random.default_rng(0),)), (reward, ())):
        with pytest.raises(InvalidRanking, match="ranking"):
            ask(users, ranking, *more)


@every_model
def test_policies_act_on_its_users(model: ChoiceModelEntry) -> None:
    users = _users(model)
    one, two = (simulate(users, "toprank", rounds=200, replications=2, seed=3, jobs=n)["toprank"] for n in (1, 2))
    assert np.array_equal(one.regret, two.regret)
    assert (np.diff(one.regret, prepend=0.0) >= -1e-9).all()
    assert all(tally.rounds == 200 for tally in one.tallies)
    if not hasattr(users, "position_bias"):
        with pytest.raises(InvalidInput, match="needs a known position_bias, got None"):
            simulate(users, get_policy("epoch-ucb"), rounds=10)


@every_model
def test_a_problem_file_names_its_model(model: ChoiceModelEntry, tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    file.write_text(json.dumps({"model": model.id, **model.example}))
    users = problem(str(file)).users
    assert type(users) is type(_users(model))
    ranking = best_ranking(users)
    assert click_probabilities(users, ranking) == pytest.approx(click_probabilities(_users(model), ranking))
    for field in model.fields:
        rest = {key: value for key, value in model.example.items() if key != field}
        file.write_text(json.dumps({"model": model.id, **rest}))
        with pytest.raises(InvalidInput, match=f'lacks the key "{field}"'):
            problem(str(file))


def _seen() -> dict[str, Any]:
    found = {}
    for model in choice_models():
        users, rng = _users(model), np.random.default_rng(4)
        shown = best_ranking(users)
        run = simulate(users, "toprank", rounds=100, replications=2, seed=5, jobs=1)["toprank"]
        clicks = np.zeros((50, users.slots), np.bool_)
        for row in clicks:
            draw_clicks(users, shown, row, rng)
        found[model.id] = [
            clicks.tolist(),
            click_rates(users, shown).tolist(),
            [draw(users, shown, rng) for _ in range(50)],
            float(reward(users, shown)),
            click_probabilities(users, shown).tolist(),
            run.regret.tolist(),
        ]
    return found


def test_compiled_equals_plain() -> None:
    """To the last bit."""
    with interpreted():
        plain = _seen()
    assert plain == _seen()


def test_an_unknown_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown choice model 'mnk': did you mean mnl"):
        choice_model("mnk")
    file = tmp_path / "users.json"
    file.write_text(json.dumps({"model": 7, "position_bias": [1.0], "attractiveness": [0.5]}))
    with pytest.raises(InvalidInput, match=r"unknown choice model '7': there are .*mnl"):
        problem(str(file))
