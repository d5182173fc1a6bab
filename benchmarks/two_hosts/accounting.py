"""What visitors were answered, beside what the database holds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import psycopg

Row = tuple[Any, ...]
DECISIONS = "SELECT id, items, outcome, clicked, final FROM slotwise.decisions WHERE placement = 'home'"
TALLY = "SELECT slot, item, clicks, passes FROM slotwise.tally WHERE placement = 'home'"


def read(url: str) -> tuple[list[Row], list[Row]]:
    """All decisions of the placement, and its tally."""
    with psycopg.connect(url) as connection:
        return connection.execute(DECISIONS).fetchall(), connection.execute(TALLY).fetchall()


def differences(answers: Iterable[dict[str, Any]], decisions: Sequence[Row], tally: Sequence[Row]) -> list[str]:
    """Everything that was acknowledged and is not there, or was not counted exactly once.

    >>> made = [("d1", '["a", "b"]', "clicked", "a", 1)]
    >>> told = [{"decision": "d1"}, {"outcome": "d1", "clicked": "a"}]
    >>> differences(told, made, [(0, "a", 1, 0)])
    []
    >>> differences([*told, {"decision": "d2"}], made, [(0, "a", 2, 0)])
    ['decision d2 is lost', 'slot 0, item a: 2 clicks and 0 passes in the tally, 1 and 0 by the decisions']
    """
    stored = {row[0]: row for row in decisions}
    found = []
    for answer in answers:
        id = answer.get("decision", answer.get("outcome"))
        if id is None:
            continue
        if id not in stored:
            found.append(f"decision {id} is lost")
            continue
        outcome, clicked = stored[id][2:4]
        told = ("no_click", None) if answer.get("clicked") is None else ("clicked", answer["clicked"])
        if "outcome" in answer and (outcome, clicked) != told:
            found.append(f"decision {id}: acknowledged {told}, stored {(outcome, clicked)}")
    found += [f"decision {row[0]} was never counted" for row in decisions if not row[4]]
    return found + _miscounted(decisions, tally)


def _miscounted(decisions: Sequence[Row], tally: Sequence[Row]) -> list[str]:
    clicks, passes = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for _, listed, outcome, clicked, _ in decisions:
        items = json.loads(listed)
        if outcome == "clicked":
            clicks[items.index(clicked), clicked] += 1
        else:
            passes.update(enumerate(items))
    counted = {(slot, item): (clicked, passed) for slot, item, clicked, passed in tally}
    return [
        f"slot {slot}, item {item}: {there[0]} clicks and {there[1]} passes in the tally, "
        f"{clicks[slot, item]} and {passes[slot, item]} by the decisions"
        for slot, item in sorted({*clicks, *passes, *counted})
        if (there := counted.get((slot, item), (0, 0))) != (clicks[slot, item], passes[slot, item])
    ]
