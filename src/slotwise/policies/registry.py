"""The policies by name, each registered in the file that defines it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from slotwise.errors import InvalidInput, UnknownName
from slotwise.policies.interface import absorb
from slotwise.setting import Setting
from slotwise.tally import Tally

#: known: it is told λ; unknown: it learns λ; ordered: it takes the slots to be in decreasing order of bias
Bias = Literal["known", "unknown", "ordered"]

_registered: dict[str, Policy] = {}


@dataclass(frozen=True)
class Policy:
    """A registered policy and the options to make it with."""

    id: str
    name: str
    position_bias: Bias
    citation: str
    default: bool
    make: Callable[..., Any]
    #: whether it can work towards a goal: all that arrange their lists can
    takes_goal: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    def start(self, setting: Setting, tally: Tally | None = None) -> Any:
        """A policy that knows `setting`, less the position bias unless it is one that is told, and `tally`."""
        self.check(setting)
        if self.position_bias != "known":
            setting = replace(setting, position_bias=None)
        acting = self.make(setting, **self.options)
        if tally is not None:
            absorb_tally(str(self), acting, tally, setting)
        return acting

    def check(self, setting: Setting) -> None:
        """Refuse a setting in which this policy cannot act."""
        if self.position_bias == "known" and setting.position_bias is None:
            raise InvalidInput(f"{self.id} must be told the position_bias, got None")
        if (setting.goal is not None or setting.rules_per_decision) and not self.takes_goal:
            raise InvalidInput(f"{self.id} cannot work towards a goal: it knows no values and no constraints")
        if setting.goal is not None:
            setting.goal.check(setting.slots, setting.items)

    def __str__(self) -> str:
        chosen = ",".join(f"{option}={value}" for option, value in self.options.items())
        return f"{self.id}:{chosen}" if chosen else self.id


def register(
    id: str, *, name: str, position_bias: Bias, citation: str, default: bool = False, takes_goal: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the function that makes a policy from a `Setting`; its keyword-only arguments are the options."""

    def add(make: Callable[..., Any]) -> Callable[..., Any]:
        _registered[id] = Policy(id, name, position_bias, citation, default, make, takes_goal)
        return make

    return add


def absorb_tally(label: str, acting: Any, tally: Any, setting: Setting) -> None:
    """Let a policy absorb a tally, or say by name why it cannot."""
    if not isinstance(tally, Tally):
        raise InvalidInput(f"a policy starts from a Tally, got {tally!r}")
    if (tally.slots, tally.items) != (setting.slots, setting.items):
        raise InvalidInput(
            f"the tally is of {tally.slots} slots and {tally.items} items, where there are {setting.slots} and "
            f"{setting.items}"
        )
    try:
        absorb(acting, tally.clicks, tally.passes)
    except InvalidInput as problem:
        raise InvalidInput(f"{label} cannot start from a tally: {problem}") from None


def policies() -> list[Policy]:
    """Every registered policy, in order of id."""
    return [_registered[id] for id in sorted(_registered)]


def policy(id: str, **options: Any) -> Policy:
    """The policy registered as `id`, made with `options`.

    >>> policy("epoch-ucb").name
    'Epoch-UCB'
    >>> str(policy("epoch-ucb-upb", sensitivity="analytic"))
    'epoch-ucb-upb:sensitivity=analytic'
    >>> policy("epoch-ubc")
    Traceback (most recent call last):
    slotwise.errors.UnknownName: unknown policy 'epoch-ubc': did you mean epoch-ucb or epoch-ucb-w or epoch-ucb-upb?
    """
    if id not in _registered:
        raise UnknownName("policy", id, sorted(_registered))
    found = _registered[id]
    parameters = inspect.signature(found.make).parameters.values()
    known = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise InvalidInput(f"{id} has {'the options ' + ', '.join(known) if known else 'no options'}, got {option}")
    return replace(found, options=options)


def parse(text: str) -> Policy:
    """A policy as written on the command line: ID, or ID:option=value,option=value."""
    id, colon, rest = text.partition(":")
    options: dict[str, Any] = {}
    for pair in rest.split(",") if colon else []:
        option, equals, value = (part.strip() for part in pair.partition("="))
        if not (option and equals and value) or option in options:
            raise InvalidInput(f"options are written ID:option=value,option=value, each once, got {text!r}")
        options[option] = _number_or_word(value)
    return policy(id, **options)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
