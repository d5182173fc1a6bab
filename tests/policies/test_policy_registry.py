from __future__ import annotations

import numpy as np
import pytest

from slotwise import PolicyTask, available_policies, get_policy
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.jit import interpreted
from slotwise.policies import default_policy
from slotwise.policies.policy_registry import LIMITS, parse, register
from tests.registered_components import TRY_WITH


def test_the_nearest_names_are_offered() -> None:
    with pytest.raises(UnknownName, match="unknown policy 'top-rank': did you mean toprank"):
        get_policy("top-rank")
    with pytest.raises(UnknownName, match="there are batchrank, bubblerank, "):
        get_policy("zzz")


def test_options_are_checked() -> None:
    assert str(parse("epoch-ucb-upb:sensitivity=analytic")) == "epoch-ucb-upb:sensitivity=analytic"
    with pytest.raises(InvalidInput, match="epoch-ucb has no options, got sensitivity"):
        parse("epoch-ucb:sensitivity=analytic")
    with pytest.raises(InvalidInput, match="epoch-ucb-upb has the options sensitivity, got speed"):
        get_policy("epoch-ucb-upb", speed=1)
    with pytest.raises(InvalidInput, match="sensitivity must be finite-difference or analytic, got 'guess'"):
        get_policy("epoch-ucb-upb", sensitivity="guess").start(PolicyTask(1, 2, 10))


def test_a_policy_that_needs_a_horizon_refuses_to_start_without_one() -> None:
    for id in ("toprank", "bubblerank"):
        with pytest.raises(InvalidInput, match="rounds must be given to a policy that needs a horizon, got None"):
            get_policy(id).start(PolicyTask(2, 5, position_bias=np.array([1.0, 0.5])))


def test_only_known_bias_policies_are_given_the_position_bias() -> None:
    with pytest.raises(InvalidInput, match="epoch-ucb needs a known position_bias"):
        get_policy("epoch-ucb").start(PolicyTask(1, 2, 10))


def test_an_option_decides_whether_the_bias_is_known() -> None:
    task = PolicyTask(2, 3, 10, np.array([1.0, 0.5]))
    for entry in available_policies():
        if entry.position_bias == "either":
            with interpreted():
                learned, known = (variant.start(task) for variant in entry.bias_variants)
                assert entry.with_option("bias", "unknown").start(task).posterior.position_bias.tolist() == [1.0, 1.0]
            assert learned.posterior.position_bias.tolist() == [1.0, 1.0]
            assert known.posterior.position_bias.tolist() == [1.0, 0.5]
            with pytest.raises(InvalidInput, match=f"{entry.id}:bias=known needs a known position_bias, got None"):
                get_policy(entry.id, bias="known").start(PolicyTask(2, 3, 10))
            for option in entry.unknown_bias_options:
                assert option in entry.option_names
                with pytest.raises(
                    InvalidInput, match=f"has a known position bias, but {option} applies only to an unknown one"
                ):
                    get_policy(entry.id, bias="known", **{option: 2.0}).start(task)
    assert default_policy(known_bias=True).knows_bias


def test_the_option_for_the_bias_is_checked_and_its_old_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="bias must be unknown or known, got 'guessed'"):
        get_policy("thompson-sampling", bias="guessed")
    with pytest.raises(InvalidInput, match="epoch-ucb has no options, got bias"):
        get_policy("epoch-ucb", bias="known")
    with pytest.raises(UnknownName, match="did you mean thompson-sampling:bias=known"):
        get_policy("thompson-sampling-known")


def test_declarations_are_consistent() -> None:
    for entry in available_policies():
        assert entry.citation
        assert entry.limits.keys() <= LIMITS.keys()
    for id, variants in TRY_WITH.items():
        for options in variants:
            get_policy(id, **options)


def test_an_unknown_limit_is_rejected() -> None:
    with pytest.raises(InvalidInput, match=r"a limit of mine must be goal or tally or .*, got 'gaol'"):
        register("mine", name="Mine", position_bias="known", citation="none", limits={"gaol": "a slip"})


@pytest.mark.parametrize(
    "text",
    ["epoch-ucb:", "epoch-ucb-upb:sensitivity", "epoch-ucb-upb:=x", "epoch-ucb-upb:sensitivity=", "epoch-ucb:a=1,a=2"],
)
def test_options_are_written_in_one_way(text: str) -> None:
    with pytest.raises(InvalidInput, match=f"ID:option=value,option=value, each once, got '{text}'"):
        parse(text)
