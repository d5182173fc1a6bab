from __future__ import annotations

import pytest

from slotwise import Setting, policy
from slotwise.errors import InvalidInput, UnknownName
from slotwise.policies.registry import parse


def test_the_nearest_names_are_offered() -> None:
    with pytest.raises(UnknownName, match="unknown policy 'top-rank': did you mean toprank"):
        policy("top-rank")
    with pytest.raises(UnknownName, match="there are epoch-ucb, epoch-ucb-upb, "):
        policy("zzz")


def test_options_are_checked() -> None:
    assert str(parse("epoch-ucb-upb:sensitivity=analytic")) == "epoch-ucb-upb:sensitivity=analytic"
    with pytest.raises(InvalidInput, match="epoch-ucb has no options, got sensitivity"):
        parse("epoch-ucb:sensitivity=analytic")
    with pytest.raises(InvalidInput, match="epoch-ucb-upb has the options sensitivity, got speed"):
        policy("epoch-ucb-upb", speed=1)
    with pytest.raises(InvalidInput, match="sensitivity must be finite-difference or analytic, got 'guess'"):
        policy("epoch-ucb-upb", sensitivity="guess").start(Setting(1, 2, 10))


def test_a_known_bias_policy_must_be_told_and_an_unknown_one_is_not() -> None:
    with pytest.raises(InvalidInput, match="epoch-ucb must be told the position_bias"):
        policy("epoch-ucb").start(Setting(1, 2, 10))


@pytest.mark.parametrize(
    "text",
    ["epoch-ucb:", "epoch-ucb-upb:sensitivity", "epoch-ucb-upb:=x", "epoch-ucb-upb:sensitivity=", "epoch-ucb:a=1,a=2"],
)
def test_options_are_written_in_one_way(text: str) -> None:
    with pytest.raises(InvalidInput, match=f"ID:option=value,option=value, each once, got '{text}'"):
        parse(text)
