from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise import simulate
from slotwise.core.errors import InvalidInput
from slotwise.environments import Churn, Delay, Jump, Segment, Walk, World, problem
from slotwise.environments.availability import NEVER
from slotwise.environments.problem_file import WORLD

USERS = {"position_bias": [1, 0.5], "attractiveness": [0.2, 0.4, 0.1]}
SEGMENTS = [
    {"share": 0.25, "attractiveness": [0.2, 0.4, 0.1]},
    {"share": 0.75, "attractiveness": [0.5, 0.1, 0.3], "position_bias": [0.5, 1]},
]
CHURN = {"middle": 0.2, "spread": 0.5}


def _read(folder: Path, content: Any) -> Any:
    file = folder / "mine.json"
    file.write_text(json.dumps(content))
    return problem(str(file))


def test_features_may_be_of_each_segment(tmp_path: Path) -> None:
    rows = [[[1, "a"], [2, "b"], [3, "a"]], [[3, "b"], [2, "b"], [1, "b"]]]
    world = _read(tmp_path, {"position_bias": [1, 0.5], "segments": SEGMENTS, "features": rows}).users
    assert world.features.shape == (2, 3, 3)
    assert world.features[1].round(2).tolist() == [[1.22, 0, 1], [0, 0, 1], [-1.22, 0, 1]]


def test_a_file_with_everything(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        {
            "position_bias": [1, 0.5],
            "segments": SEGMENTS,
            "delay": {"rounds": 10, "mean_rounds": 3.5, "every": 5},
            "arrivals": [0, 0, 3000],
            "departures": [None, 500, None],
            "drift": [
                {"round": 70, "attractiveness": [1, 2, 3]},
                {"round": 7, "attractiveness": [[1, 1, 2], [3, 4, 5]]},
            ],
            "walk": {"sd": 0.2, "rounds": 1000},
            "cycle": {"amplitude": 0.1, "period": 24.5, "phases": [0, 0.5, 0.1]},
            "features": [["a", 1], ["b", 2], ["a", 3]],
            "step": 10,
            "rounds": 12_345,
        },
    )
    world = found.users
    assert isinstance(world, World)
    assert (found.rounds, found.goal, world.slots, world.items, world.step) == (12_345, None, 2, 3, 10)
    assert world.delay == Delay(rounds=10, mean_rounds=3.5, every=5)
    assert world.position_bias is None
    assert [segment.position_bias.tolist() for segment in world.segments] == [[1.0, 0.5], [0.5, 1.0]]
    assert world.attractiveness.tolist() == [[0.2, 0.4, 0.1], [0.5, 0.1, 0.3]]
    assert world.arrivals.tolist() == [0, 0, 3000]
    assert world.departures.tolist() == [NEVER, 500, NEVER]
    assert [jump.round for jump in world.drift] == [7, 70]
    assert world.drift[0].attractiveness.tolist() == [[1, 1, 2], [3, 4, 5]]
    assert world.drift[1].attractiveness.tolist() == [[1, 2, 3]] * 2
    assert world.walk == Walk(sd=0.2, rounds=1000)
    assert world.features.round(2).tolist() == [[1, 0, -1.22], [0, 1, 0], [1, 0, 1.22]]
    assert world.comes_and_goes


def test_rounds_alone_make_no_world(tmp_path: Path) -> None:
    found = _read(tmp_path, USERS | {"rounds": 77})
    assert (found.rounds, type(found.users).__name__) == (77, "MNL")


def test_churn_from_a_file(tmp_path: Path) -> None:
    content = {"position_bias": [1, 0.5], "churn": CHURN | {"start": 4, "arrivals": 2, "lifetime": 100}}
    world = _read(tmp_path, content).users
    assert world.churn == Churn(middle=0.2, spread=0.5, start=4, arrivals=2, lifetime=100)
    assert world.items == 0
    assert world.items_in(1_000) >= 4 + 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        # segments
        ({"segments": SEGMENTS}, "attractiveness must be omitted if segments are given"),
        ({"attractiveness": None}, "attractiveness must not be null"),
        ({"segments": [], "attractiveness": ...}, "segments must be a list of at least one object, got []"),
        ({"segments": {}, "attractiveness": ...}, "segments must be a list of at least one object, got {}"),
        ({"segments": [3], "attractiveness": ...}, "segments[0] must be an object with share, attractiveness,"),
        ({"segments": [{"share": 1}], "attractiveness": ...}, "segments[0].attractiveness must be given"),
        ({"segments": [{"attractiveness": [1, 2]}], "attractiveness": ...}, 'segments[0] lacks the key "share"'),
        ({"segments": [{"share": 1, "shares": 2}], "attractiveness": ...}, 'segments[0] has an unknown key "shares"'),
        ({"segments": [SEGMENTS[1]], "attractiveness": ...}, "share must sum to 1 over segments, got 0.75"),
        (
            {"segments": [SEGMENTS[0] | {"share": -0.5}, SEGMENTS[1]], "attractiveness": ...},
            "segments[0].share must be positive and finite, got -0.5",
        ),
        (
            {"segments": [SEGMENTS[0] | {"share": "x"}, SEGMENTS[1]], "attractiveness": ...},
            "segments[0].share must be a number, got 'x'",
        ),
        (
            {"segments": [SEGMENTS[0], SEGMENTS[1] | {"attractiveness": [1, 2]}], "attractiveness": ...},
            "segments[1].attractiveness must have 3 items, as the first has, got 2",
        ),
        (
            {"segments": [SEGMENTS[0], SEGMENTS[1] | {"position_bias": [1]}], "attractiveness": ...},
            "segments[1].position_bias must have 2 slots, as the first has, got 1",
        ),
        (
            {"segments": [SEGMENTS[0], SEGMENTS[1] | {"attractiveness": [1, 2, float("nan")]}], "attractiveness": ...},
            "segments[1].attractiveness must be positive and finite, got nan for item 3",
        ),
        (
            {"segments": SEGMENTS, "attractiveness": ..., "position_bias": ...},
            "segments[0].position_bias must be given, or one for all",
        ),
        # delay
        ({"delay": {}}, "delay must be an object with rounds, mean_rounds, every, got {}"),
        ({"delay": 5}, "delay must be an object with rounds, mean_rounds, every, got 5"),
        ({"delay": {"round": 5}}, 'delay has an unknown key "round"; there are rounds, mean_rounds, every'),
        ({"delay": {"rounds": -1}}, "delay.rounds must be at least 0, got -1"),
        ({"delay": {"rounds": 1.5}}, "delay.rounds must be a whole number, got 1.5"),
        ({"delay": {"rounds": None}}, "delay.rounds must be a whole number, got None"),
        ({"delay": {"rounds": 2**63}}, "delay.rounds must be at most"),
        ({"delay": {"mean_rounds": -1.0}}, "delay.mean_rounds must be positive and finite, got -1.0"),
        ({"delay": {"mean_rounds": float("nan")}}, "delay.mean_rounds must be positive and finite, got nan"),
        ({"delay": {"mean_rounds": 1e30}}, "delay.mean_rounds must be at most 1e+15, got 1e+30"),
        ({"delay": {"mean_rounds": "5"}}, "delay.mean_rounds must be a number, got '5'"),
        ({"delay": {"every": 0}}, "delay.every must be at least 1, got 0"),
        # arrivals and departures
        ({"arrivals": [0, 0]}, "arrivals must have one round per item, 3, got 2"),
        ({"arrivals": 5}, "arrivals must be a list of rounds, got 5"),
        ({"arrivals": "abc"}, "arrivals must be a list of rounds, got 'abc'"),
        ({"arrivals": [0, 0, -1]}, "arrivals[2] must be at least 0, got -1"),
        ({"arrivals": [0, 0, 0.5]}, "arrivals[2] must be a whole number, got 0.5"),
        ({"arrivals": [0, 0, True]}, "arrivals[2] must be at least 0, got True"),
        ({"arrivals": [5, 6, 7]}, "arrivals must leave an item at round 0, got [5, 6, 7]"),
        ({"departures": [1, 2]}, "departures must have one round per item, 3, got 2"),
        ({"departures": [1, 2, "x"]}, "departures[2] must be a whole number, got 'x'"),
        ({"departures": [0, None, 5]}, "departures[0] must be after the item's arrival at round 0, got 0"),
        ({"departures": [3, 4, 5]}, "departures must always leave an item, got none at round 5"),
        (
            {"arrivals": [0, 0, 6], "departures": [3, 5, None]},
            "departures must always leave an item, got none at round 5",
        ),
        # drift
        ({"drift": {"round": 5}}, "drift must be a list of at least one object"),
        ({"drift": [{"round": 5}]}, 'drift[0] lacks the key "attractiveness"'),
        ({"drift": [{"round": -5, "attractiveness": [1, 2, 3]}]}, "drift[0].round must be at least 0, got -5"),
        ({"drift": [{"round": 2**63, "attractiveness": [1, 2, 3]}]}, "drift[0].round must be at most"),
        (
            {"drift": [{"round": 5, "attractiveness": [1, 2]}]},
            "drift[0].attractiveness must have one entry per item",
        ),
        ({"drift": [{"round": 5, "attractiveness": [1, 2, 0]}]}, "drift[0].attractiveness must be positive and finite"),
        ({"drift": [{"round": 5, "attractiveness": None}]}, "drift[0].attractiveness must be a list of"),
        (
            {"drift": [{"round": 5, "attractiveness": [[1, 2, 3], [1, 2, 3]]}]},
            "drift[0].attractiveness must be a list for each of 1 segments, got 2",
        ),
        (
            {"drift": [{"round": 5, "attractiveness": [1, 2, 3]}] * 2},
            "drift must have each round once, got 5 twice",
        ),
        ({"walk": {"sd": 0.1}}, 'walk lacks the key "rounds"'),
        ({"walk": {"sd": -0.1, "rounds": 10}}, "walk.sd must be positive and finite, got -0.1"),
        ({"walk": {"sd": 0.1, "rounds": 0}}, "walk.rounds must be positive and finite, got 0"),
        ({"walk": {"sd": 21, "rounds": 10}}, "walk.sd must be at most 20, got 21"),
        ({"cycle": {"amplitude": 1e9, "period": 10}}, "cycle.amplitude must be at most 20, got 1000000000.0"),
        ({"cycle": {"amplitude": 0.1, "period": "day"}}, "cycle.period must be a number, got 'day'"),
        (
            {"cycle": {"amplitude": 0.1, "period": 5, "phases": [0.1]}},
            "cycle.phases must be a number for each of the 3 items, got [0.1]",
        ),
        ({"step": 0}, "step must be at least 1, got 0"),
        ({"step": 2**63}, "step must be at most"),
        # churn
        ({"churn": {"middle": 0.1}}, 'churn lacks the key "spread"'),
        ({"churn": CHURN | {"middle": 0}}, "churn.middle must be positive and finite, got 0"),
        ({"churn": CHURN | {"arrivals": -2}}, "churn.arrivals must be positive and finite, got -2"),
        ({"churn": CHURN | {"lifetime": 0.5}}, "churn.lifetime must be at least 1 round, got 0.5"),
        ({"churn": CHURN | {"agreement": 1.5}}, "churn.agreement must be at most 1, got 1.5"),
        ({"churn": CHURN | {"explained": 0.5}}, "churn.explained must be 0 without features, got 0.5"),
        (
            {"churn": CHURN | {"features": 2}},
            "features must be given for the given items if churn has features",
        ),
        (
            {"churn": CHURN | {"features": 2, "start": 1}, "features": [[1], [2], [3]]},
            "features must have 2 columns, as many as churn.features, got 1",
        ),
        (
            {"churn": CHURN | {"start": 1}, "features": [[1], [2], [3]]},
            "features must be omitted if the items of churn have none",
        ),
        ({"churn": CHURN, "attractiveness": ...}, "attractiveness must be given, or segments that have it"),
        (
            {"churn": CHURN | {"start": 1}, "attractiveness": ...},
            "position_bias has 2 slots, and there are only 1 items to fill them",
        ),
        # features
        ({"features": [[1], [2]]}, "features must have a row for each of the 3 items, got 2"),
        ({"features": [[[1], [2], [3]]] * 2}, "features must be of each of the 1 segments, got 2"),
        ({"features": [[[1], [2], [3]], [[1], [2]]]}, "features must have as many rows in each segment"),
        ({"features": [[1], [2], [1, 2]]}, "features[2] must have 1 entries, as the first has, got 2"),
        ({"features": [1, 2, 3]}, "features[0] must be a list of numbers and text, got 1"),
        ({"features": "abc"}, "features must be a row for each item, got 'abc'"),
        ({"features": [[1], ["x"], [3]]}, "features[1][0] must be a number, as others in its column, got 'x'"),
        ({"features": [["x"], [1], ["y"]]}, "features[1][0] must be text, as others in its column, got 1"),
        ({"features": [[1], [float("nan")], [3]]}, "features[1][0] must be at most 1e+100 in size, got nan"),
        ({"features": [[1], [True], [3]]}, "features[1][0] must be a number, as others in its column, got True"),
        # the rest
        ({"rounds": 0}, "rounds must be at least 1, got 0"),
        ({"rounds": None}, "rounds must be a whole number, got None"),
        ({"delay": {"rounds": 3}, "rounds": "x"}, "rounds must be a whole number, got 'x'"),
        ({"delay": {"rounds": 3}, "values": [1, 2, 3]}, "values cannot be given together with delay"),
        ({"delay": {"rounds": 3}, "position_bias": [1, -1]}, "position_bias must be positive and finite, got -1.0"),
        ({"delay": {"rounds": 3}, "position_bias": [1] * 4}, "position_bias has 4 slots, and there are only 3 items"),
        ({"delays": {"rounds": 3}}, 'has an unknown key "delays"'),
    ],
)
def test_every_invalid_parameter_is_rejected_by_name(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    """`...` takes a key of the users away."""
    step = {} if set(content) - {"attractiveness"} else {"step": 10}
    whole = {key: value for key, value in (USERS | step | content).items() if value is not ...}
    with pytest.raises(InvalidInput, match=re.escape("mine.json")) as caught:
        _read(tmp_path, whole)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"delay": 5}, "delay must be a Delay, got 5"),
        ({"delay": None}, "delay must be a Delay, got None"),
        ({"churn": {"middle": 1}}, "churn must be a Churn, got {'middle': 1}"),
        ({"segments": [0.5, 0.5]}, "segments must be a list of segments, got [0.5, 0.5]"),
        ({"drift": [5]}, "drift must be a list of jumps, got [5]"),
        (
            {"attractiveness": [1e308, 1e308]},
            "attractiveness must leave the weight of a list at most 1e+100, got 1e+308",
        ),
        ({"drift": [Jump(5, [1, 1, 1e101])]}, "drift must leave the weight of a list at most 1e+100, got 1e+101"),
        ({"features": np.array([[1.0], [np.inf], [0.0]])}, "features must be finite"),
    ],
)
def test_in_python_too(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        World(**(USERS | fields))


@pytest.mark.parametrize(("features", "agreement"), [(2, 0.5), (1, 0.0)])
def test_too_few_features_for_segments_that_do_not_agree(features: int, agreement: float) -> None:
    churn = Churn(middle=0.2, spread=0.5, start=5, features=features, agreement=agreement)
    with pytest.raises(InvalidInput, match=r"churn.features must be .* the 2 segments"):
        World(position_bias=[1.0], segments=[Segment(0.5), Segment(0.5)], churn=churn)


def test_too_many_items_are_refused() -> None:
    world = World(position_bias=[1.0], churn=Churn(middle=0.2, spread=0.5, start=5, arrivals=1.0, every=1))
    with pytest.raises(InvalidInput, match=r"churn.arrivals must bring at most 100000 items, got"):
        simulate(world, "epoch-ucb", rounds=10**6)


def test_a_world_keeps_copies_of_its_parameters() -> None:
    attractiveness = np.array([0.2, 0.4, 0.1])
    world = World(position_bias=[1.0], attractiveness=attractiveness)
    attractiveness[:] = 9.0
    assert world.attractiveness.tolist() == [[0.2, 0.4, 0.1]]


def test_whether_items_come_and_go() -> None:
    def comes_and_goes(**fields: Any) -> bool:
        return World(**(USERS | fields)).comes_and_goes

    assert not comes_and_goes(arrivals=[0, 0, 0], departures=[None, None, None])
    assert not comes_and_goes(churn=Churn(middle=0.1, spread=0.1, start=3))
    assert comes_and_goes(arrivals=[0, 0, 1])
    assert comes_and_goes(departures=[None, None, 10])
    assert comes_and_goes(churn=Churn(middle=0.1, spread=0.1, arrivals=1))
    assert comes_and_goes(churn=Churn(middle=0.1, spread=0.1, lifetime=100))


def test_the_shop() -> None:
    shop = problem("shop")
    assert shop.rounds == 100_000
    told = shop.users.task(shop.rounds)
    assert (told.slots, told.segments, told.rules_per_decision) == (6, 3, True)
    assert 130 < told.items < 210
    with pytest.raises(InvalidInput, match="shop must have users who choose by multinomial logit, got a changing"):
        problem("shop", of_mnl=True)


def test_the_fields_in_the_docs_can_be_read(tmp_path: Path) -> None:
    """Blocks of the page that start with a field, several to a line where there is room between them."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "environments.md").read_text()
    blocks = re.findall(r"^    \".*(?:\n    +.*)*", page, re.MULTILINE)
    fields = [json.loads(f"{{{field}}}") for block in blocks for field in re.split(r"(?<=}) {10}", block.strip())]
    # one example names its model too
    assert {key for one in fields for key in one} - {"model", "position_bias", "attraction"} == set(WORLD)
    for field in fields:
        users = {"position_bias": [1, 0.5]} if "churn" in field or "segments" in field else USERS
        if "choosing" in field:
            users = {}
        assert isinstance(_read(tmp_path, users | field).users, World)
