from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise import EMPTY
from slotwise.jit import plain
from slotwise.simulation.delay_queue import empty_queue, is_due, put, take


@settings(max_examples=60)
@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), max_size=60))
def test_they_are_taken_in_order_of_when_they_are_due_and_of_when_they_were_shown(steps: list[int | None]) -> None:
    """Each step puts one that is due so much later, or takes one; rows are used again, and room grows."""
    waiting = plain(empty_queue(slots=2, room=2))
    model: list[tuple[int, int]] = []
    for now, step in enumerate(steps):
        if step is not None:
            put(waiting, now + step, now, now % 3, np.array([now, EMPTY]), np.array([now % 2 == 0, now % 5 == 0]))
            model.append((now + step, now))
        elif model:
            assert is_due(waiting, min(model)[0])
            assert not is_due(waiting, min(model)[0] - 1)
            row, first = take(waiting), min(model)
            model.remove(first)
            assert (waiting.due[row], waiting.shown[row]) == first
            assert waiting.segment[row] == first[1] % 3
            assert waiting.clicks[row].tolist() == [first[1] % 2 == 0, first[1] % 5 == 0]
            assert waiting.ranking[row].tolist() == [first[1], EMPTY]
        assert waiting.count == len(model)
        assert sorted(waiting.heap.tolist()) == list(range(len(waiting.heap)))
