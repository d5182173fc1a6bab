"""Ctrl-C waits for the compiler, and is then answered by whoever answers to it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from slotwise.jit.sigint import postponed_interrupt


@pytest.fixture
def answered() -> Iterator[list[int]]:
    asked: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    yield asked
    signal.signal(signal.SIGINT, before)


def test_it_waits_for_the_outermost_block_and_is_answered_once(answered: list[int]) -> None:
    own = signal.getsignal(signal.SIGINT)
    with postponed_interrupt():
        with postponed_interrupt():
            signal.raise_signal(signal.SIGINT)
        assert not answered
    assert answered == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is own


def test_a_second_one_does_not_wait(answered: list[int]) -> None:
    with postponed_interrupt():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert len(answered) == 1


@pytest.mark.usefixtures("answered")
def test_by_default_it_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), postponed_interrupt():
        signal.raise_signal(signal.SIGINT)


def test_other_threads_are_never_interrupted(answered: list[int]) -> None:
    own, inside = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with postponed_interrupt():
            inside.append(signal.getsignal(signal.SIGINT))

    thread: Any = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert inside == [own]
