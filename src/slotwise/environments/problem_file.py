"""Problem files: users or a world, a goal and a number of rounds as JSON.

    {"position_bias": [1, 0.5], "attractiveness": [0.2, 0.4, 0.1]}

If users do not choose by multinomial logit, the file has "model" and its fields instead. For a goal other than clicks
it has any of "values", "pin" {"item": slot}, "exclude", "groups", "max_per_group" and "may_be_empty", as in a `Goal`.
Items and slots count from 0. A changing environment has any of "segments", "delay", "arrivals", "departures", "churn",
"drift", "walk", "cycle", "features", "step" and "choosing", as in a `World`;
docs/reference/environments.md has an example of each. With "model" its users are of that model.
"rounds" is the default number of rounds.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any, NamedTuple, TypeVar

from slotwise.click_models import ChoiceModelEntry, choice_model
from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnknownName, UnreadableFile
from slotwise.environments.availability import NEVER
from slotwise.environments.dynamics import Churn, Cycle, Delay, Jump, Segment, Walk
from slotwise.environments.world import World
from slotwise.optimize import Goal

Kind = TypeVar("Kind")

MODEL, DEFAULT_MODEL = "model", "mnl"
GOAL = ("values", "pin", "exclude", "groups", "max_per_group", "may_be_empty")


ROUNDS = "rounds"
#: fields of a `World`: of one record, of a list of records, and others
RECORDS: dict[str, type] = {"delay": Delay, "churn": Churn, "walk": Walk, "cycle": Cycle}
LISTS: dict[str, type] = {"segments": Segment, "drift": Jump}
WORLD = (
    "segments", "delay", "arrivals", "departures", "churn", "drift", "walk", "cycle", "features", "step", "choosing",
)  # fmt: skip


class Content(NamedTuple):
    """The content of a problem file."""

    #: or a `World`
    users: Any
    goal: Goal | None
    rounds: int | None


def read_problem(path: str) -> Content:
    """Return the users or the world, the goal and the rounds in a file; errors name the key and the value."""
    content = _read(path)
    if not isinstance(content, dict):
        raise InvalidInput(f'{path} must hold an object with "position_bias" and "attractiveness", got {content!r}')
    model = _model(path, content.get(MODEL, DEFAULT_MODEL))
    is_world = any(key in content for key in WORLD)
    for key in model.fields:
        if key not in content and not is_world:
            raise InvalidInput(f'{path} lacks the key "{key}"; it has {", ".join(map(repr, content)) or "none"}')
    # visitors who choose by multinomial logit need a position bias
    keys = (*model.fields, *(["position_bias"] if "choosing" in content else []), *GOAL, MODEL, ROUNDS, *WORLD)
    for key in content:
        if key not in keys:
            raise InvalidInput(f'{path} has an unknown key "{key}"; there are {", ".join(keys)}')
    try:
        goal = _goal({key: content[key] for key in GOAL if key in content})
        users: Any
        if is_world:
            users = _world(content, model)
        else:
            users = model.make(**{key: content[key] for key in model.fields})
            if goal is not None:
                goal.check(users.slots, users.items)
        rounds = content.get(ROUNDS)
        if ROUNDS in content:
            rounds = validation.whole_number(ROUNDS, rounds, at_least=1, at_most=NEVER)
    except InvalidInput as problem:
        raise InvalidInput(f"{path}: {problem}") from None
    return Content(users, goal, rounds)


def _world(content: dict[str, Any], model: ChoiceModelEntry) -> World:
    changing = next(key for key in content if key in WORLD)
    for key in GOAL:
        if key in content:
            raise InvalidInput(f"{key} cannot be given together with {changing}: a changing environment has no goal")
    given: dict[str, Any] = {}
    if model.id != DEFAULT_MODEL:
        for key in model.fields:
            if key not in content:
                raise InvalidInput(f'the key "{key}" of {model.id} is missing')
        given["users"] = model.make(**{key: content[key] for key in model.fields})
    for key, value in content.items():
        if key in (MODEL, ROUNDS) or ("users" in given and key in model.fields):
            continue
        if value is None:
            raise InvalidInput(f"{key} must not be null")
        if key in RECORDS:
            given[key] = _record(RECORDS[key], key, value)
        elif key in LISTS:
            if not isinstance(value, list) or not value:
                raise InvalidInput(f"{key} must be a list of at least one object, got {validation.short(value)}")
            given[key] = [_record(LISTS[key], f"{key}[{place}]", entry) for place, entry in enumerate(value)]
        else:
            given[key] = value
    return World(**given)


def _record(kind: type[Kind], name: str, value: object) -> Kind:
    """Return an object of a file as an instance of `kind`."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if not isinstance(value, dict) or not value:
        raise InvalidInput(f"{name} must be an object with {', '.join(names)}, got {validation.short(value)}")
    for key in value:
        if key not in names:
            raise InvalidInput(f'{name} has an unknown key "{key}"; there are {", ".join(names)}')
    for field in fields(kind):  # type: ignore[arg-type]
        if field.default is MISSING and field.name not in value:
            raise InvalidInput(f'{name} lacks the key "{field.name}"; it has {", ".join(map(repr, value))}')
    return kind(**value)


def _model(path: str, id: object) -> ChoiceModelEntry:
    try:
        return choice_model(id if isinstance(id, str) else repr(id))
    except UnknownName as problem:
        raise InvalidInput(f"{path}: {problem}") from None


def _read(path: str) -> object:
    try:
        with open(path, encoding="utf-8") as file:
            content: object = json.load(file, object_pairs_hook=_without_repetition)
            return content
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise UnreadableFile(f"{path} cannot be read: {problem}") from None
    except InvalidInput as problem:
        raise InvalidInput(f"{path}: {problem}") from None
    except (ValueError, RecursionError) as problem:
        raise UnreadableFile(f"{path} is not JSON: {problem}") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raise InvalidInput for a repeated key, such as an item that is pinned to two slots; JSON keeps the last."""
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise InvalidInput(f'the key "{key}" is given twice')
        content[key] = value
    return content


def _goal(fields: dict[str, Any]) -> Goal | None:
    if not fields:
        return None
    if isinstance(fields.get("pin"), dict):
        # keys of JSON are text
        fields["pin"] = {_item(key): slot for key, slot in fields["pin"].items()}
    if isinstance(fields.get("groups"), list):
        for item, label in enumerate(fields["groups"]):
            if label is not None and not isinstance(label, str):
                raise InvalidInput(f"groups must hold text or null, got {label!r} for item {item}")
    return Goal(**fields)


def _item(key: str) -> int:
    if not (key.isascii() and key.isdigit() and str(int(key)) == key):
        raise InvalidInput(f"an item in pin must be a whole number, got {key!r}")
    return int(key)
