"""A changing environment, with the fields of a problem file; errors name the field and the value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.feature_encoder import encode
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray
from slotwise.environments.availability import NEVER, check_presence, rounds_per_item
from slotwise.environments.dynamics import HEAVIEST, MAX_ITEMS, Churn, Cycle, Delay, Jump, Segment, Walk

#: shares may be rounded
SHARES_OFF_BY = 1e-6
AT_ONCE = Delay()


@dataclass(frozen=True, eq=False)
class World:
    """A changing environment: users in segments, and the dynamics of outcomes, items and attractiveness.

    After construction `attractiveness` is segments × items, `segments` have arrays of their own, and `position_bias` is
    the one that all segments share, or None. For the `users` of a click model an item of attractiveness α attracts with
    probability α/(1 + α), so that every change of α applies to them too.

    Parameters
    ----------
    position_bias
        λ, per slot, for segments without their own.
    users
        Users of a click model, such as `PositionBased` or `Cascade`; None for multinomial logit. Their items are
        given items, unless segments have attractiveness of their own.
    choosing
        With `users`: the share of the visitors who choose by multinomial logit.
    attractiveness
        α of the given items, if all visitors are alike; None if each segment has its own.
    segments
        The segments of the visitors.
    delay
        The delay of outcomes.
    arrivals, departures
        Per given item, the rounds at which it arrives and leaves; NEVER or None for never.
    churn
        Further items, at random; without `departures`, given items have its lifetimes too.
    drift
        Changes of attractiveness at given rounds.
    walk
        A slow walk of attractiveness.
    cycle
        A daily cycle of attractiveness.
    features
        A row of numbers or text per given item, or such rows for each segment; encoded on construction by `encode`.
    step
        The rounds between two moves of walks and cycles.

    Examples
    --------
    >>> world = World(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.4, 0.1], delay=Delay(rounds=100))
    >>> world.slots, world.items
    (2, 3)
    """

    position_bias: Any = None
    users: Any = None
    choosing: float = 0.0
    attractiveness: Any = None
    segments: Sequence[Segment] = ()
    delay: Delay = AT_ONCE
    arrivals: Any = None
    departures: Any = None
    churn: Churn | None = None
    drift: Sequence[Jump] = ()
    walk: Walk | None = None
    cycle: Cycle | None = None
    features: Any = None
    step: int = 100

    def __post_init__(self) -> None:
        for name, kind in (("delay", Delay), ("churn", Churn), ("walk", Walk), ("cycle", Cycle)):
            given = getattr(self, name)
            if not isinstance(given, kind) and not (given is None and name != "delay"):
                raise InvalidInput(f"{name} must be a {kind.__name__}, got {validation.short(given)}")
        validation.whole_number("step", self.step, at_least=1, at_most=NEVER)
        has_bias = self._take_users()
        segments = _segments(self)
        biases = np.array([segment.position_bias for segment in segments])
        attractiveness = np.array([segment.attractiveness for segment in segments])
        self._set(
            segments=segments,
            position_bias=biases[0] if has_bias and (biases == biases[0]).all() else None,
            attractiveness=attractiveness,
        )
        self._check_items()
        items = attractiveness.shape[1]
        arrivals = rounds_per_item("arrivals", self.arrivals, items, otherwise=0)
        departures = None if self.departures is None else rounds_per_item("departures", self.departures, items, NEVER)
        check_presence(arrivals, departures, others_at_start=self.churn.start if self.churn else 0, churn=self.churn)
        self._set(
            arrivals=arrivals,
            departures=departures,
            drift=_jumps(self.drift, len(segments), items),
            features=self._encoded(items),
        )
        for jump in self.drift:
            self._check_weight("drift", jump.attractiveness)
        if self.cycle is not None and self.cycle.phases is not None:
            _check_phases(self.cycle.phases, items)

    def _take_users(self) -> bool:
        """Take position bias and attractiveness from the users, if there are any; whether slots have a bias at all."""
        users = self.users
        if users is None:
            if self.choosing:
                raise InvalidInput(f"choosing must be omitted if no users are given, got {self.choosing!r}")
            return True
        if not hasattr(users, "browsing"):
            raise InvalidInput(
                f"users of a world must be of a model that looks from slot to slot, such as pbm, cascade, dcm and ubm, "
                f"got {validation.short(users)}"
            )
        if self.choosing:
            validation.share("choosing", self.choosing)
        own = getattr(users, "position_bias", None)
        if self.position_bias is not None and (own is not None or not self.choosing):
            raise InvalidInput("position_bias must be omitted if users are given: they have one or need none")
        if self.position_bias is None and own is None and self.choosing:
            raise InvalidInput("position_bias must be given for the visitors who choose by multinomial logit")
        has_bias = own is not None or self.position_bias is not None
        if own is not None:
            self._set(position_bias=own)
        elif not has_bias:
            # of no consequence: slots in order
            self._set(position_bias=np.ones(users.slots))
        if len(validation.positive_vector("position_bias", self.position_bias, each="slot")) != users.slots:
            raise InvalidInput(
                f"position_bias must be of {users.slots} slots, as users have, got {self.position_bias!r}"
            )
        if self.attractiveness is not None:
            raise InvalidInput("attractiveness must be omitted if users are given: they have their attraction")
        if not self.segments:
            self._set(attractiveness=_odds(users.attraction))
        for number, segment in enumerate(self.segments):
            bias = getattr(segment, "position_bias", None)
            if bias is not None and not has_bias:
                raise InvalidInput(f"segments[{number}].position_bias must be left out: these users have none")
            if bias is not None and own is not None:
                validation.probability_vector(f"segments[{number}].position_bias", bias, each="slot")
        return has_bias

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _check_items(self) -> None:
        segments, given = self.attractiveness.shape
        churn = self.churn
        if given + (churn.start if churn else 0) < self.slots:
            raise InvalidInput(
                f"position_bias has {self.slots} slots, and there are only {given + (churn.start if churn else 0)} "
                "items to fill them"
            )
        self._check_weight("attractiveness", self.attractiveness)
        if churn and churn.features and 0.0 < churn.agreement < 1.0 and churn.features <= segments > 1:
            raise InvalidInput(
                f"churn.features must be more than the {segments} segments unless their agreement is 1, got "
                f"{churn.features}"
            )
        if churn and churn.features and not churn.agreement and churn.features < segments:
            raise InvalidInput(f"churn.features must be at least the {segments} segments, got {churn.features}")

    def _check_weight(self, name: str, attractiveness: FloatArray) -> None:
        heaviest = float(attractiveness.max(initial=0.0))
        if not heaviest <= HEAVIEST / max(float(segment.position_bias.sum()) for segment in self.segments):
            raise InvalidInput(f"{name} must leave the weight of a list at most {HEAVIEST:g}, got {heaviest!r}")

    def _encoded(self, items: int) -> FloatArray | None:
        drawn = self.churn.features if self.churn else 0
        draws_items = self.churn is not None and (self.churn.start > 0 or self.churn.arrivals > 0)
        if self.features is None:
            if drawn and items:
                raise InvalidInput("features must be given for the given items if churn has features")
            return None
        encoded = _numbers(self.features)
        if encoded.shape[-2] != items:
            raise InvalidInput(f"features must have a row for each of the {items} items, got {encoded.shape[-2]}")
        if encoded.ndim == 3 and len(encoded) != len(self.segments):
            raise InvalidInput(f"features must be of each of the {len(self.segments)} segments, got {len(encoded)}")
        if encoded.ndim == 3 and draws_items:
            raise InvalidInput("features must be of items, and not of each segment, if churn draws items")
        if draws_items and not drawn:
            raise InvalidInput("features must be omitted if the items of churn have none: churn.features is 0")
        if draws_items and encoded.shape[1] != drawn:
            raise InvalidInput(f"features must have {drawn} columns, as many as churn.features, got {encoded.shape[1]}")
        return encoded

    @property
    def slots(self) -> int:
        """K."""
        return len(self.segments[0].position_bias)

    @property
    def items(self) -> int:
        """J, of the items that are given, without those of `churn`."""
        return int(self.attractiveness.shape[1])

    @property
    def comes_and_goes(self) -> bool:
        """Whether items come or go."""
        leaves = self.departures is not None and bool((self.departures < NEVER).any())
        churns = self.churn is not None and (self.churn.arrivals > 0 or self.churn.lifetime is not None)
        return leaves or churns or bool((self.arrivals > 0).any())

    def items_in(self, rounds: int) -> int:
        """Return J, the number of all items that can be there within `rounds`."""
        churn = self.churn
        total = self.items + (churn.start + churn.most_arrivals(rounds) if churn else 0)
        if total > MAX_ITEMS:
            raise InvalidInput(f"churn.arrivals must bring at most {MAX_ITEMS} items, got {total} in {rounds} rounds")
        return total

    def task(self, rounds: int) -> PolicyTask:
        """Return the task of a policy, without the features of items that a replication draws."""
        return PolicyTask(
            slots=self.slots,
            items=self.items_in(rounds),
            rounds=rounds,
            position_bias=self.position_bias,
            rules_per_decision=self.comes_and_goes,
            segments=len(self.segments),
            features=self.features,
        )


def _odds(attraction: FloatArray) -> FloatArray:
    """The attractiveness α with α/(1 + α) = attraction."""
    for item, chance in enumerate(attraction):
        if not 0.0 < chance < 1.0:
            raise InvalidInput(
                f"users.attraction must be above 0 and below 1 in a world, got {chance!r} of item {item}"
            )
    odds: FloatArray = attraction / (1.0 - attraction)
    return odds


def _segments(world: World) -> tuple[Segment, ...]:
    """Return the segments, each with a share and arrays of its own; one of all visitors if none are given."""
    given = world.segments
    if not isinstance(given, Sequence) or not all(isinstance(segment, Segment) for segment in given):
        raise InvalidInput(f"segments must be a list of segments, got {validation.short(given)}")
    if not given:
        if world.attractiveness is None and not (world.churn and world.churn.start):
            raise InvalidInput("attractiveness must be given, or segments that have it, or a churn with a start")
        given = [Segment(1.0, world.attractiveness)]
    elif world.attractiveness is not None:
        raise InvalidInput("attractiveness must be omitted if segments are given: each has its own")
    segments = tuple(
        _segment(segment, f"segments[{number}]." if world.segments else "", world)
        for number, segment in enumerate(given)
    )
    for number, segment in enumerate(segments):
        for name, each in (("position_bias", "slots"), ("attractiveness", "items")):
            own, first = len(getattr(segment, name)), len(getattr(segments[0], name))
            if own != first:
                raise InvalidInput(f"segments[{number}].{name} must have {first} {each}, as the first has, got {own}")
    total = sum(segment.share for segment in segments)
    if abs(total - 1.0) > SHARES_OFF_BY:
        raise InvalidInput(f"share must sum to 1 over segments, got {total:g}")
    return segments


def _segment(segment: Segment, prefix: str, world: World) -> Segment:
    is_shared = segment.position_bias is None
    bias = world.position_bias if is_shared else segment.position_bias
    if bias is None:
        raise InvalidInput(f"{prefix}position_bias must be given, or one for all")
    if segment.attractiveness is None:
        if not (world.churn and world.churn.start):
            raise InvalidInput(f"{prefix}attractiveness must be given, or a churn with a start")
        attractiveness = np.zeros(0)
    else:
        attractiveness = validation.positive_vector(f"{prefix}attractiveness", segment.attractiveness, each="item")
    return Segment(
        validation.positive_number(f"{prefix}share", segment.share),
        attractiveness,
        validation.positive_vector("position_bias" if is_shared else f"{prefix}position_bias", bias, each="slot"),
    )


def _jumps(given: object, segments: int, items: int) -> tuple[Jump, ...]:
    """Return the jumps in order of rounds, with attractiveness segments × items."""
    if not isinstance(given, Sequence) or not all(isinstance(jump, Jump) for jump in given):
        raise InvalidInput(f"drift must be a list of jumps, got {validation.short(given)}")
    jumps = []
    for number, jump in enumerate(given):
        name = f"drift[{number}]"
        at = validation.whole_number(f"{name}.round", jump.round, at_least=0, at_most=NEVER)
        per_segment = _is_list(jump.attractiveness) and any(map(_is_list, jump.attractiveness))
        rows = jump.attractiveness if per_segment else [jump.attractiveness] * segments
        if len(rows) != segments:
            raise InvalidInput(f"{name}.attractiveness must be a list for each of {segments} segments, got {len(rows)}")
        attractiveness = [validation.positive_vector(f"{name}.attractiveness", row, each="item") for row in rows]
        for row in attractiveness:
            if len(row) != items:
                raise InvalidInput(f"{name}.attractiveness must have one entry per item, {items}, got {len(row)}")
        jumps.append(Jump(at, np.array(attractiveness)))
    jumps.sort(key=lambda jump: jump.round)
    for before, after in itertools.pairwise(jumps):
        if before.round == after.round:
            raise InvalidInput(f"drift must have each round once, got {after.round} twice")
    return tuple(jumps)


def _check_phases(given: object, items: int) -> None:
    phases = validation.number_vector("cycle.phases", given)
    if len(phases) != items or not np.isfinite(phases).all():
        raise InvalidInput(
            f"cycle.phases must be a number for each of the {items} items, got {validation.short(given)}"
        )


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def _numbers(features: Any) -> FloatArray:
    """Return features as numbers, items × features, or segments × items × features if they differ by segment."""
    if isinstance(features, np.ndarray) and features.dtype == np.float64 and features.ndim in (2, 3):
        if not np.isfinite(features).all():
            raise InvalidInput("features must be finite")
        return features.copy()
    if not _is_by_segment(features):
        return encode(features)
    rows = [row for segment in features for row in segment]
    if any(len(segment) != len(features[0]) for segment in features):
        raise InvalidInput("features must have as many rows in each segment")
    return encode(rows).reshape(len(features), len(features[0]), -1)


def _is_by_segment(features: object) -> bool:
    rows = features
    for _ in range(2):
        if isinstance(rows, str) or not isinstance(rows, Sequence | np.ndarray) or len(rows) == 0:
            return False
        rows = rows[0]
    return isinstance(rows, list | tuple | np.ndarray)
