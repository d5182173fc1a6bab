"""The three problems of Grant and Leslie, §6, with the horizons of their experiments, and problems from files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from slotwise.choice import MNL
from slotwise.errors import InvalidInput, UnknownName, UnreadableFile

REPLICATIONS = 40


@dataclass(frozen=True)
class Problem:
    """Users, and for how long they are simulated."""

    id: str
    users: MNL
    rounds: int


def paper_problems() -> dict[str, Problem]:
    """The problems (a), (b) and (c)."""
    return {
        "a": Problem(
            "a",
            MNL(position_bias=[1.0, 0.3, 0.2, 0.1], attractiveness=[0.3, 0.28, 0.26, 0.24, 0.22, 0.2]),
            rounds=50_000,
        ),
        "b": Problem(
            "b",
            MNL(position_bias=[1.0, 0.2, 0.9], attractiveness=[0.05, 0.1, 0.15, 0.2]),
            rounds=50_000,
        ),
        "c": Problem(
            "c",
            MNL(
                position_bias=[1.0, 0.9, 0.7, 0.3, 0.5, 0.7],
                attractiveness=[1.0] * 4 + [0.8] * 2 + [0.1] * 24,
            ),
            rounds=8_000,
        ),
    }


DEFAULT_ROUNDS = 50_000


def problem(name: str) -> Problem:
    """A problem of the paper by its letter, or one from a JSON file by its path.

    >>> problem("b").users.items
    4
    """
    known = paper_problems()
    if name in known:
        return known[name]
    if name.endswith(".json") or os.path.sep in name or os.path.exists(name):
        return Problem(name, read_users(name), DEFAULT_ROUNDS)
    raise UnknownName("problem", name, [*known, "FILE.json"])


def read_users(path: str) -> MNL:
    """Users from a file `{"position_bias": [...], "attractiveness": [...]}`."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise UnreadableFile(f"{path} cannot be read: {problem}") from None
    except (ValueError, RecursionError) as problem:
        raise UnreadableFile(f"{path} is not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise InvalidInput(f'{path} must hold an object with "position_bias" and "attractiveness", got {content!r}')
    for key in ("position_bias", "attractiveness"):
        if key not in content:
            raise InvalidInput(f'{path} lacks the key "{key}"; it has {", ".join(map(repr, content)) or "none"}')
    try:
        return MNL(position_bias=content["position_bias"], attractiveness=content["attractiveness"])
    except InvalidInput as problem:
        raise InvalidInput(f"{path}: {problem}") from None
