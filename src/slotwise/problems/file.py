"""A problem in a file: users, and what their clicks are for.

    {"position_bias": [1, 0.5], "attractiveness": [0.2, 0.4, 0.1]}

with "model" and what that needs instead, if users do not choose by multinomial logit; and, if it is not for clicks
alone, any of "values", "pinned" {"item": slot}, "excluded", "groups", "at_most" and "may_be_empty", as in a `Goal`.
Items and slots count from 0.
"""

from __future__ import annotations

import json
from typing import Any

from slotwise.choice import ChoiceModelEntry, choice_model
from slotwise.errors import InvalidInput, UnknownName, UnreadableFile
from slotwise.lists import Goal

MODEL, DEFAULT_MODEL = "model", "mnl"
GOAL = ("values", "pinned", "excluded", "groups", "at_most", "may_be_empty")


def read_problem(path: str) -> tuple[Any, Goal | None]:
    """The users and the goal in a file; whatever is wrong with it is named."""
    content = _read(path)
    if not isinstance(content, dict):
        raise InvalidInput(f'{path} must hold an object with "position_bias" and "attractiveness", got {content!r}')
    model = _model(path, content.get(MODEL, DEFAULT_MODEL))
    for key in model.fields:
        if key not in content:
            raise InvalidInput(f'{path} lacks the key "{key}"; it has {", ".join(map(repr, content)) or "none"}')
    known = (*model.fields, *GOAL, MODEL)
    for key in content:
        if key not in known:
            raise InvalidInput(f'{path} has an unknown key "{key}"; there are {", ".join(known)}')
    try:
        users = model.make(**{key: content[key] for key in model.fields})
        goal = _goal({key: content[key] for key in GOAL if key in content})
        if goal is not None:
            goal.check(users.slots, users.items)
    except InvalidInput as problem:
        raise InvalidInput(f"{path}: {problem}") from None
    return users, goal


def _model(path: str, id: Any) -> ChoiceModelEntry:
    try:
        return choice_model(id if isinstance(id, str) else repr(id))
    except UnknownName as problem:
        raise InvalidInput(f"{path}: {problem}") from None


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, object_pairs_hook=_without_repetition)
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise UnreadableFile(f"{path} cannot be read: {problem}") from None
    except InvalidInput as problem:
        raise InvalidInput(f"{path}: {problem}") from None
    except (ValueError, RecursionError) as problem:
        raise UnreadableFile(f"{path} is not JSON: {problem}") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON would let the last of two equal keys win: an item pinned to two slots would pass unnoticed."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidInput(f'the key "{key}" is given twice')
        found[key] = value
    return found


def _goal(fields: dict[str, Any]) -> Goal | None:
    if not fields:
        return None
    if isinstance(fields.get("pinned"), dict):
        # keys of JSON are text
        fields["pinned"] = {_item(key): slot for key, slot in fields["pinned"].items()}
    if isinstance(fields.get("groups"), list):
        for item, label in enumerate(fields["groups"]):
            if label is not None and not isinstance(label, str):
                raise InvalidInput(f"groups must hold text or null, got {label!r} for item {item}")
    return Goal(**fields)


def _item(key: str) -> int:
    if not (key.isascii() and key.isdigit() and str(int(key)) == key):
        raise InvalidInput(f"an item in pinned must be a whole number, got {key!r}")
    return int(key)
