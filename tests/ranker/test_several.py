from __future__ import annotations

import numpy as np
import pytest

from slotwise.ranker import Learner


@pytest.mark.parametrize("bias", [None, [1.0, 0.5]])
def test_several_lists_equal_the_lists_of_several_calls(bias: list[float] | None) -> None:
    one, several = (Learner(list("abcde"), 2, position_bias=bias, rng=np.random.default_rng(3)) for _ in range(2))
    for learner in (one, several):
        learner.learn(["a", "b"], None)
        # what is wished for one list is not for the others
        assert learner.choose(exclude=["a", "b"], pin={"c": 2})[1] == "c"
    assert several.choose_several(20) == [one.choose() for _ in range(20)]
    assert several.choose() == one.choose()
