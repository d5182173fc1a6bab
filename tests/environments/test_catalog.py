from __future__ import annotations

import re
from pathlib import Path

import pytest

from slotwise.core.errors import InvalidInput, SlotwiseError, UnknownName
from slotwise.environments import further_problems, paper_problems, problem
from slotwise.environments.catalog import OTHER_USERS


def test_the_papers_problems() -> None:
    a, b, c = paper_problems().values()
    assert (a.users.slots, a.users.items, a.rounds) == (4, 6, 50_000)
    assert (b.users.slots, b.users.items, b.rounds) == (3, 4, 50_000)
    assert (c.users.slots, c.users.items, c.rounds) == (6, 30, 8_000)
    assert sorted(c.users.attractiveness.tolist()) == [0.1] * 24 + [0.8] * 2 + [1.0] * 4


def test_the_further_problems() -> None:
    assert list(further_problems()) == list("defghijk")
    assert {(p.users.slots, p.users.items) for p in further_problems().values()} >= {(5, 100), (1, 10), (8, 8)}


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"position_bias": [1, 0.5], "attractiveness": [0.2, 0.3]}')
    assert problem(str(file)).users.position_bias.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", 'must hold an object with "position_bias" and "attractiveness", got [1]'),
        ('{"attractiveness": [1]}', "lacks the key \"position_bias\"; it has 'attractiveness'"),
        ('{"position_bias": [1]}', 'lacks the key "attractiveness"'),
        (
            '{"position_bias": [1, 1], "attractiveness": [1]}',
            "position_bias has 2 slots but attractiveness only 1 items",
        ),
        ('{"position_bias": [NaN], "attractiveness": [1]}', "position_bias must be positive and finite, got nan"),
        ('{"position_bias": null, "attractiveness": [1]}', "position_bias must be a list of"),
        ('{"position_bias": ["a"], "attractiveness": [1]}', "position_bias must be a list of numbers"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    file = tmp_path / "mine.json"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content is not None:
        file.write_text(content)
    with pytest.raises(SlotwiseError, match=re.escape("mine.json")) as caught:
        problem(str(file))
    assert message in str(caught.value)


def test_an_unknown_problem() -> None:
    names = "a, b, c, d, e, f, g, h, i, j, k, shop, pbm, cascade, dcm, ubm, mixture, FILE.json"
    with pytest.raises(UnknownName, match=f"problem 'z': there are {names}"):
        problem("z")


def test_other_users_are_known_by_name() -> None:
    for id in OTHER_USERS:
        found = problem(id).users
        assert (found.slots, found.items) == (4, 12)
        with pytest.raises(InvalidInput, match=f"{id} must have users who choose by multinomial logit"):
            problem(id, of_mnl=True)
