from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from slotwise.core.errors import InvalidInput
from slotwise.environments import problem

USERS = {"position_bias": [1, 0.5], "attractiveness": [0.2, 0.4, 0.1]}


def _file(folder: Path, content: Any) -> str:
    file = folder / "mine.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def test_a_file_without_a_goal_has_none(tmp_path: Path) -> None:
    assert problem(_file(tmp_path, USERS)).goal is None


def test_a_goal(tmp_path: Path) -> None:
    content = {
        "values": [1, 0, 2.5],
        "pin": {"2": 0},
        "exclude": [0],
        "groups": ["a", None, "a"],
        "max_per_group": {"a": 1},
        "may_be_empty": True,
    }
    goal = problem(_file(tmp_path, USERS | content)).goal
    assert goal is not None
    assert goal.values is not None
    assert goal.values.tolist() == [1.0, 0.0, 2.5]
    assert dict(goal.pin) == {2: 0}
    assert goal.exclude == {0}
    assert goal.groups == ("a", None, "a")
    assert dict(goal.max_per_group) == {"a": 1}
    assert goal.may_be_empty


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"valeus": [1]}, 'has an unknown key "valeus"; there are position_bias, attractiveness, values, pin,'),
        ({"values": [1, 2]}, "values must have one entry for each of the 3 items, got 2"),
        ({"values": [1, 2, None]}, "values must be finite and not negative, at most 1e+100, got nan for item 2"),
        ({"values": [1, 2, -3]}, "values must be finite and not negative, at most 1e+100, got -3.0 for item 2"),
        ({"pin": {"one": 1}}, "an item in pin must be a whole number, got 'one'"),
        ({"pin": {"01": 1}}, "an item in pin must be a whole number, got '01'"),
        ({"pin": [1]}, "pin must map items to slots, got [1]"),
        ({"pin": {"0": "1"}}, "the slot of item 0 in pin must be a whole number, got '1'"),
        ({"pin": {"0": 2}}, "pin puts item 0 into slot 2, but slots are 0 to 1"),
        ({"pin": {"0": 1, "2": 1}}, "pin puts both item 0 and item 2 into slot 1"),
        ({"exclude": [0, 1]}, "exclude and max_per_group leave 1 items to show at once, which cannot fill 2 slots"),
        ({"exclude": None}, "exclude must be a list of items, got None"),
        ({"groups": ["a", 1, "a"]}, "groups must hold text or null, got 1 for item 1"),
        ({"groups": {"0": "a"}}, "groups must be a list of one label or None for each item, got {'0': 'a'}"),
        ({"max_per_group": {"a": 1}}, "max_per_group limits group 'a', which no item of groups is in"),
        ({"may_be_empty": 1}, "may_be_empty must be true or false, got 1"),
    ],
)
def test_a_wrong_goal_is_refused_by_name(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape("mine.json")) as caught:
        problem(_file(tmp_path, USERS | content))
    assert message in str(caught.value)


def test_an_item_pinned_twice_is_noticed(tmp_path: Path) -> None:
    text = '{"position_bias": [1, 0.5], "attractiveness": [0.2, 0.4, 0.1], "pin": {"0": 0, "0": 1}}'
    with pytest.raises(InvalidInput, match=r'mine.json: the key "0" is given twice'):
        problem(_file(tmp_path, text))
