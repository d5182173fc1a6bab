"""The rules of outcomes: the verdict on a report."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.service.storage.decision_types import Outcome, Verdict


def judge(
    outcome: Outcome,
    *,
    now: float,
    items: Sequence[str],
    deadline: float,
    final: bool,
    recorded: Outcome | None,
) -> Verdict:
    """The verdict on an outcome: the first one counts, and a click may replace a no-click until the deadline.

    `now` is when the outcome arrived. If the decision became final while the outcome waited to be written, an outcome
    in time still gets a verdict by the earlier outcome; only a new one is late.

    >>> known = dict(now=1.0, items=["a", "b"], deadline=2.0, final=False)
    >>> judge(Outcome("clicked", "a"), recorded=Outcome("no_click"), **known)
    'recorded'
    >>> judge(Outcome("no_click"), recorded=Outcome("clicked", "a"), **known)
    'conflict'
    """
    if not set(outcome.clicks) <= set(items):
        return "unknown_item"
    if now >= deadline:
        return "late"
    if recorded == outcome:
        return "duplicate"
    if recorded is None or (recorded.kind == "no_click" and outcome.kind == "clicked"):
        return "late" if final else "recorded"
    return "conflict"
