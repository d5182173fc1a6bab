"""The policies by name, each registered in the file that defines it, with its limits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.core.policy_task import PolicyTask
from slotwise.core.registry import check_plugin
from slotwise.core.tally import Tally
from slotwise.policies.interface import update_from_tally

#: known: the policy needs λ; unknown: it learns λ; either: the option `bias` decides which of the two;
#: ordered: it assumes that the slots are in decreasing order of bias
Bias = Literal["known", "unknown", "either", "ordered"]
#: the values of the option `bias`, the default first
BIAS_OPTIONS = ("unknown", "known")

#: limits that a policy may declare; everything that it does not declare is tested
LIMITS = {
    "goal": "work towards a goal, nor take pins, exclusions and values per decision",
    "tally": "start from a tally",
    "values": "be relied on to find the best list if clicks on different items have different values",
    "empty slots": "be relied on to find out that a slot is best left empty",
    "soon": "be relied on to do better than random lists within a few thousand rounds",
    "chance": "be relied on to do better than random lists if slots may be left empty",
}

#: policies that were replaced, and by which
RENAMED = {"posterior-sampling": "thompson-sampling", "random-bound": "thompson-sampling"}
_registered: dict[str, PolicySpec] = {}


@dataclass(frozen=True)
class PolicySpec:
    """A registered policy and the values of its options.

    Parameters
    ----------
    id
        The id, as in `slotwise policies`.
    name
        The name in tables and figures.
    position_bias
        The position bias that it takes: "known", "unknown", "either" by the option `bias`, or "ordered" if slots
        must be in decreasing order of it.
    citation
        The publication of the policy.
    make
        Takes a `PolicyTask` and the options, and returns the state of the policy.
    default
        Whether it is the default policy.
    unknown_bias_options
        Options that apply only to an unknown position bias.
    limits
        Its limitations and their reasons: keys of `LIMITS` and sentences.
    rival
        Whether it is a baseline: compiled on first use, and not at set-up.
    options
        Values of options by name.
    """

    id: str
    name: str
    position_bias: Bias
    citation: str
    make: Callable[..., Any]
    default: bool = False
    unknown_bias_options: frozenset[str] = frozenset()
    limits: Mapping[str, str] = field(default_factory=dict)
    rival: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def takes_goal(self) -> bool:
        """Whether it can work towards a goal and take constraints per decision: all policies with a list solver can."""
        return "goal" not in self.limits

    @property
    def pools(self) -> bool:
        """Whether it learns by segment and from features of items; every policy with a half-life does."""
        return "half_life" in self.option_names

    @property
    def option_names(self) -> list[str]:
        """The names of its options."""
        parameters = inspect.signature(self.make).parameters.values()
        names = [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
        return ["bias", *names] if self.position_bias == "either" else names

    @property
    def knows_bias(self) -> bool:
        """Whether the policy starts with the position bias of its task.

        >>> get_policy("epoch-ucb").knows_bias, get_policy("thompson-sampling").knows_bias
        (True, False)
        """
        return self.position_bias == "known" or self.options.get("bias") == "known"

    @property
    def bias_variants(self) -> list[PolicySpec]:
        """Return the policy, and its variant with known bias if it has one."""
        return [self, self.with_option("bias", "known")] if self.position_bias == "either" else [self]

    def with_option(self, option: str, value: Any) -> PolicySpec:
        """Return the policy with one more option set; raise InvalidInput if it has no such option."""
        if option not in self.option_names:
            raise InvalidInput(f"{self.id} has {_listed(self.option_names)}, got {option}")
        if option == "bias" and self.position_bias == "either":
            validation.one_of("bias", value, BIAS_OPTIONS)
        return replace(self, options={**self.options, option: value})

    def start(self, task: PolicyTask, tally: Tally | None = None) -> Any:
        """Return the state of the policy for `task`, after `tally`; it gets no position bias if it learns that."""
        self.check(task)
        if tally is not None and (why := self.limits.get("tally")):
            raise InvalidInput(f"{self} cannot start from a tally: {why}")
        if not self.knows_bias:
            task = replace(task, position_bias=None)
        options = dict(self.options)
        if self.position_bias == "either":
            options.pop("bias", None)
        started = self.make(task, **options)
        if tally is not None:
            apply_tally(str(self), started, tally, task)
        return started

    def check(self, task: PolicyTask) -> None:
        """Raise InvalidInput for a task that this policy cannot do."""
        if self.knows_bias and task.position_bias is None:
            raise InvalidInput(f"{self} needs a known position_bias, got None")
        if self.knows_bias and (useless := sorted(self.unknown_bias_options & self.options.keys())):
            raise InvalidInput(f"{self} has a known position bias, but {useless[0]} applies only to an unknown one")
        if why := self.limits.get("goal"):
            if task.goal is not None:
                raise InvalidInput(f"{self.id} cannot work towards a goal: {why}")
            if task.rules_per_decision:
                raise InvalidInput(f"{self.id} cannot take pins and exclusions per decision: {why}")
        if task.goal is not None:
            task.goal.check(task.slots, task.items)

    def __str__(self) -> str:
        chosen = ",".join(f"{option}={value}" for option, value in self.options.items())
        return f"{self.id}:{chosen}" if chosen else self.id


def register(
    id: str,
    *,
    name: str,
    position_bias: Bias,
    citation: str,
    default: bool = False,
    unknown_bias_options: Sequence[str] = (),
    limits: Mapping[str, str] | None = None,
    rival: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the function that makes a policy from a `PolicyTask`; its keyword-only arguments are the options.

    The arguments are the fields of a `PolicySpec`.
    """
    for limit in limits or {}:
        validation.one_of(f"a limit of {id}", limit, tuple(LIMITS))

    def add(make: Callable[..., Any]) -> Callable[..., Any]:
        _registered[id] = PolicySpec(
            id=id,
            name=name,
            position_bias=position_bias,
            citation=citation,
            make=make,
            default=default,
            unknown_bias_options=frozenset(unknown_bias_options),
            limits=limits or {},
            rival=rival,
        )
        return make

    return add


def apply_tally(label: str, started: Any, tally: Any, task: PolicyTask) -> None:
    """Update a policy from a tally, or raise an error that names the policy and the reason."""
    if not isinstance(tally, Tally):
        raise InvalidInput(f"a policy starts from a Tally, got {tally!r}")
    if (tally.slots, tally.items) != (task.slots, task.items):
        raise InvalidInput(
            f"the tally has {tally.slots} slots and {tally.items} items, but the task has {task.slots} and {task.items}"
        )
    try:
        update_from_tally(started, tally.clicks, tally.passes)
    except InvalidInput as problem:
        raise InvalidInput(f"{label} cannot start from a tally: {problem}") from None


def available_policies() -> list[PolicySpec]:
    """Return every registered policy, in order of id."""
    return [_registered[id] for id in sorted(_registered)]


def default_policy(*, known_bias: bool = False) -> PolicySpec:
    """Return the default policy, with the position bias known or unknown.

    >>> str(default_policy()), str(default_policy(known_bias=True))
    ('thompson-sampling', 'thompson-sampling:bias=known')
    """
    (default,) = (entry for entry in available_policies() if entry.default)
    return default.with_option("bias", "known") if known_bias else default


def get_policy(id: str, **options: Any) -> PolicySpec:
    """Return the policy registered as `id`, with `options`.

    Parameters
    ----------
    id
        The id of a registered policy.
    options
        Options of the policy by name.

    Returns
    -------
    PolicySpec
        The policy with its options, for `simulate` and `Ranker`.

    Raises
    ------
    UnknownName
        If no policy has this id.
    InvalidInput
        If the policy has no such option.

    Examples
    --------
    >>> get_policy("epoch-ucb").name
    'Epoch-UCB'
    >>> str(get_policy("epoch-ucb-upb", sensitivity="analytic"))
    'epoch-ucb-upb:sensitivity=analytic'
    >>> get_policy("epoch-ubc")
    Traceback (most recent call last):
    UnknownName: unknown policy 'epoch-ubc': did you mean epoch-ucb or epoch-ucb-w or epoch-ucb-upb?
    """
    if id not in _registered:
        check_plugin("slotwise.policies", id)
        name = id.removesuffix("-known")
        base = _registered.get(RENAMED.get(name, name))
        if base is None or base.position_bias != "either":
            raise UnknownName("policy", id, sorted(_registered))
        raise UnknownName("policy", id, [base.id if name == id else f"{base.id}:bias=known"])
    spec = _registered[id]
    for option, value in options.items():
        spec = spec.with_option(option, value)
    return spec


def _listed(options: Sequence[str]) -> str:
    return f"the options {', '.join(options)}" if options else "no options"


def parse(text: str) -> PolicySpec:
    """Return a policy written as on the command line: ID, or ID:option=value,option=value."""
    id, colon, options_text = text.partition(":")
    options: dict[str, Any] = {}
    for pair in options_text.split(",") if colon else []:
        option, equals, value = (part.strip() for part in pair.partition("="))
        if not (option and equals and value) or option in options:
            raise InvalidInput(f"options are written ID:option=value,option=value, each once, got {text!r}")
        options[option] = _number_or_word(value)
    return get_policy(id, **options)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
