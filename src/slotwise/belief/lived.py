"""A belief for pages as they are: several crowds, items with features, tastes that change, outcomes on their way.

Attractiveness is α_sj = m_j ε_sj for segment s and item j: m_j ~ Gamma(s, s/μ_j) is what an item is to everybody, with
μ_j = exp(x_jᵀβ) of its features, and ε_sj ~ Gamma(κ, κ/ν_sj) what it is to one crowd more than to another. ν is 1, or,
where features are of segments and items together, exp((x_sj - x_j)ᵀβ) with x_j the average over the segments. Slots are
seen as λ_k δ_sk, λ_k ~ Gamma(c, c) and δ_sk ~ Gamma(τ, τ). s, β, κ and τ are learned (`slotwise.belief.pooling`). With
one segment there is neither ε nor δ.

Given λ, δ and m, the attractiveness of each item to the segment at hand is Gamma(shape, rate): that is all that a
policy reads. λ is drawn from its posterior at the mode with attractiveness integrated out, as in `LearnedBias`.

Passes may be *soft*: a round with list A, clicked or not, counts as 1/(1+S_A) of a pass, which is what a pass is worth
on average, at the estimates of the moment, and is weighed anew as these improve (`SeenLists`). Counts may fade
(`slotwise.belief.memory`). Rounds that are shown and not yet counted narrow the belief as if they had gone as expected.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from slotwise import checks
from slotwise.belief.interface import expect, imagine, settle, turn_to, update, update_by_tally
from slotwise.belief.learned import BIAS_SHAPE, GROWTH, KEPT_PART
from slotwise.belief.memory import Memory, end_period, half_lives, starting_memory
from slotwise.belief.pooling import OWN_SLOTS, OWN_TASTE, RIDGE, refresh, weight_of
from slotwise.belief.prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE
from slotwise.belief.seen_lists import GIVEN_UP, SeenLists, are_rare, give_up, is_given_up, number_of, seen_lists
from slotwise.compiled import inlined, jit, record
from slotwise.errors import InvalidInput
from slotwise.setting import Setting
from slotwise.tally import count_no_clicks
from slotwise.typing import EMPTY, NO_CLICK, FloatArray, Ranking

#: how a round with a click counts: not at all, or as part of a pass
Passes = Literal["hard", "soft"]
#: distinct lists that are remembered where passes are soft
ROOM = 256
#: the part of the slots that items without a counted outcome may take
NEW_ITEMS_AT_MOST = 0.2
#: the kinds of counts: those in use, 1 for those of this period, and from TRIED on one for each half-life that is tried
IN_USE, TRIED = 0, 2


@record
class Lived:
    """What is believed of items and slots, for the segment at hand."""

    #: λδ as last drawn, per slot, and the posterior of α given what was drawn, per item: for the segment at hand
    position_bias: FloatArray
    shape: FloatArray
    rate: FloatArray
    prior_rate: FloatArray
    segment: int
    #: whether those are up to date
    at_hand: bool

    #: counts, kinds × segments × items or slots or both; passes of lists that are in the table are not in `folded`
    clicks: FloatArray
    slot_clicks: FloatArray
    folded: FloatArray
    seen: SeenLists
    #: all passes in use, segments × items × slots
    passes: FloatArray
    #: rounds in use, how many of them were passes, and from when on what was learned is out of date
    rounds: float
    no_clicks: float
    outdated: float
    #: rounds that wait for their outcome, segments × items × slots, and all of them
    flying: FloatArray
    in_flight: float

    #: c, and the scale of the spread of a draw of λ; whether λ is told and not drawn
    bias_shape: float
    bias_spread: float
    is_told: bool
    #: the mode of log λ, and a root of its covariance
    mode: FloatArray
    spread: FloatArray
    #: a draw is kept for so many decisions at most, and this one for so many more
    keep: int
    wait: int
    #: λ as last drawn
    drawn_bias: FloatArray

    #: s and μ, and per item the features with a constant in front, their weights β, a root of its covariance, its ridge
    item_shape: float
    item_mean: FloatArray
    features: FloatArray
    weights: FloatArray
    weights_root: FloatArray
    ridge: float
    #: x_sj - x_j, segments × items × features with a 0 in front; no features where items have the same in all segments
    own_features: FloatArray
    #: m: its mean, as last drawn, and the evidence of it where it is not drawn but settled at its mean
    level: FloatArray
    drawn_level: FloatArray
    level_evidence: FloatArray
    #: whether m is drawn; otherwise what is not known of it is taken off the evidence of each cell
    draws_levels: bool
    #: κ, and the mean of ε, segments × items
    own_taste: float
    own_level: FloatArray
    #: ν, segments × items
    own_mean: FloatArray
    #: τ, and the mean of δ, segments × slots
    own_slots: float
    slot_level: FloatArray
    #: the means of α, segments × items, and of λδ, segments × slots
    mean: FloatArray
    mean_bias: FloatArray
    #: rounds counted of each item, whoever saw it; which part of the slots items without any may take, and how many
    #: slots they have left
    counted: FloatArray
    new_items_at_most: float
    slots_for_new: float

    memory: Memory
    #: room: vectors of slots and of features, a matrix of each, exposure of cells
    step: FloatArray
    noise: FloatArray
    share: FloatArray
    cholesky: FloatArray
    feature_step: FloatArray
    feature_noise: FloatArray
    feature_matrix: FloatArray
    exposure: FloatArray


def lived(
    setting: Setting,
    *,
    passes: Passes = "soft",
    memory: Any = "none",
    bias_shape: Any = BIAS_SHAPE,
    bias_spread: Any = 1.0,
    keep: int = 1,
    own_taste: Any = OWN_TASTE,
    own_slots: Any = OWN_SLOTS,
    ridge: Any = RIDGE,
    room: int = ROOM,
    new_items_at_most: Any = NEW_ITEMS_AT_MOST,
    draws_levels: bool = True,
) -> Lived:
    """Before the first round; the position bias is drawn unless the setting tells it.

    `draws_levels` is for policies that sample; those with a bound of their own want evidence in place of a draw.
    """
    checks.one_of("passes", passes, get_args(Passes))
    segments, items, slots = setting.segments, setting.items, setting.slots
    tried = half_lives(memory)
    kinds = TRIED + len(tried) if len(tried) else 1
    features, own_features = with_constant(setting.features, segments, items)
    columns = features.shape[1]
    prior_mean = ATTRACTIVENESS_SHAPE / ATTRACTIVENESS_RATE
    told = setting.position_bias
    return Lived(
        position_bias=np.ones(slots) if told is None else told.copy(),
        shape=np.full(items, ATTRACTIVENESS_SHAPE),
        rate=np.full(items, ATTRACTIVENESS_RATE),
        prior_rate=np.full(items, ATTRACTIVENESS_RATE),
        segment=0,
        at_hand=False,
        clicks=np.zeros((kinds, segments, items)),
        slot_clicks=np.zeros((kinds, segments, slots)),
        folded=np.zeros((kinds, segments, items, slots)),
        seen=seen_lists(room if passes == "soft" else 0, slots, kinds),
        passes=np.zeros((segments, items, slots)),
        rounds=0.0,
        no_clicks=0.0,
        outdated=0.0,
        flying=np.zeros((segments, items, slots)),
        in_flight=0.0,
        bias_shape=checks.positive_number("bias_shape", bias_shape),
        bias_spread=checks.positive_number("bias_spread", bias_spread),
        is_told=told is not None,
        mode=np.zeros(slots) if told is None else np.log(told),
        spread=np.zeros((slots, slots)),
        keep=keep,
        wait=0,
        drawn_bias=np.ones(slots) if told is None else told.copy(),
        item_shape=ATTRACTIVENESS_SHAPE,
        item_mean=np.full(items, prior_mean),
        features=features,
        weights=np.zeros(columns),
        weights_root=np.diag(np.append(0.0, np.full(columns - 1, 1.0 / math.sqrt(RIDGE)))),
        ridge=checks.positive_number("ridge", ridge),
        own_features=own_features,
        level=np.full(items, prior_mean),
        drawn_level=np.full(items, prior_mean),
        level_evidence=np.full(items, ATTRACTIVENESS_SHAPE),
        draws_levels=draws_levels,
        own_taste=checks.positive_number("own_taste", own_taste),
        own_level=np.ones((segments, items)),
        own_mean=np.ones((segments, items)),
        own_slots=checks.positive_number("own_slots", own_slots),
        slot_level=np.ones((segments, slots)),
        mean=np.full((segments, items), prior_mean),
        mean_bias=np.ones((segments, slots)) * (1.0 if told is None else told),
        counted=np.zeros(items),
        new_items_at_most=checks.share("new_items_at_most", new_items_at_most),
        slots_for_new=math.inf,
        memory=starting_memory(memory, segments, items, slots),
        step=np.zeros(slots),
        noise=np.zeros(slots),
        share=np.zeros(slots),
        cholesky=np.zeros((slots, slots)),
        feature_step=np.zeros(columns),
        feature_noise=np.zeros(columns),
        feature_matrix=np.zeros((columns, columns)),
        exposure=np.zeros((segments, items)),
    )


def is_lived(setting: Setting, passes: Passes, memory: Any) -> bool:
    """Whether there is anything that takes this belief, and not one of the simpler ones."""
    checks.one_of("passes", passes, get_args(Passes))
    forgets = len(half_lives(memory)) > 0
    return passes == "soft" or forgets or setting.segments > 1 or setting.features is not None


def with_constant(features: Any, segments: int, items: int) -> tuple[FloatArray, FloatArray]:
    """Items × features, a 1 in front of each row, and what each segment has beyond that, a 0 in front.

    Features are items × features, or segments × items × features; the constant alone where there are none.
    """
    if features is None:
        return np.ones((items, 1)), np.zeros((segments, items, 0))
    found = np.asarray(features, np.float64)
    if found.ndim not in (2, 3) or found.shape[-2] != items:
        raise InvalidInput(f"features must have a row for each of the {items} items, got shape {found.shape}")
    if found.ndim == 3 and len(found) != segments:
        raise InvalidInput(f"features must be of each of the {segments} segments, got shape {found.shape}")
    if not np.isfinite(found).all():
        raise InvalidInput("features must be finite numbers, got one that is not")
    middle = found if found.ndim == 2 else found.mean(axis=0)
    own = np.zeros((segments, items, 0))
    if found.ndim == 3 and segments > 1:
        own = np.pad(found - middle, ((0, 0), (0, 0), (1, 0)))
    return np.column_stack([np.ones(items), middle]), own


@turn_to.register(Lived)
def _turn_to(belief: Lived, segment: int) -> None:
    if segment != belief.segment:
        belief.segment = segment
        belief.at_hand = False


@expect.register(Lived)
def _expect(belief: Lived, ranking: Ranking) -> None:
    fly(belief, ranking, 1.0)


@settle.register(Lived)
def _settle(belief: Lived, ranking: Ranking) -> None:
    fly(belief, ranking, -1.0)


@jit
def fly(belief: Lived, ranking: Ranking, rounds: float) -> None:
    """Count rounds that wait for their outcome."""
    belief.in_flight += rounds
    belief.at_hand = False
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            belief.flying[belief.segment, ranking[slot], slot] += rounds


@imagine.register(Lived)
def _imagine(belief: Lived, rng: np.random.Generator) -> None:
    if belief.wait > 0:
        belief.wait -= 1
    else:
        belief.wait = min(belief.keep, int(belief.rounds * KEPT_PART)) - 1
        if belief.rounds >= belief.outdated or belief.memory.left <= 0.0:
            keep_house(belief, 1)
        draw_shared(belief, rng)
        belief.at_hand = False
    if not belief.at_hand:
        bring_to_hand(belief, rng)
        # a draw of how one crowd sees the slots is for one decision, and so is what is in flight
        belief.at_hand = belief.clicks.shape[1] == 1


@jit
def keep_house(belief: Lived, times: int) -> None:
    """What need not be done in every round: end a period, make room for lists, learn anew what is learned of all."""
    if belief.memory.left <= 0.0:
        end_period(belief)
    if belief.seen.count > 0 and belief.seen.count == len(belief.seen.lists):
        fold_rarest(belief)
    for _ in range(times):
        refresh(belief)
    belief.outdated = belief.rounds * (1.0 + GROWTH) + 1e-9


@jit
def draw_shared(belief: Lived, rng: np.random.Generator) -> None:
    """Draw what all segments share: λ, β and m."""
    bias, noise, mode = belief.drawn_bias, belief.noise, belief.mode
    slots, columns = len(mode), len(belief.weights)
    scale = 1.0
    if not belief.is_told:
        for slot in range(slots):
            noise[slot] = rng.standard_normal()
        now, then = 0.0, 0.0
        for slot in range(slots):
            drawn = mode[slot]
            for other in range(slot, slots):
                drawn += belief.spread[slot, other] * noise[other]
            bias[slot] = math.exp(drawn)
            seen = 1e-9
            for segment in range(belief.passes.shape[0]):
                seen += belief.slot_clicks[IN_USE, segment, slot]
            # what clicks say of a slot's share in all exposure is what the scale of a draw goes by
            now += seen * drawn
            then += seen * mode[slot]
            noise[slot] = seen
        total = 0.0
        for slot in range(slots):
            total += noise[slot]
        scale = math.exp((now - then) / total)
    if columns > 1:
        for column in range(columns):
            belief.feature_noise[column] = rng.standard_normal()
        for column in range(columns):
            drawn = belief.weights[column]
            for other in range(column, columns):
                drawn += belief.weights_root[column, other] * belief.feature_noise[other]
            belief.feature_step[column] = drawn
        for item in range(len(belief.level)):
            drawn = 0.0
            for column in range(columns):
                drawn += belief.features[item, column] * belief.feature_step[column]
            belief.prior_rate[item] = belief.item_shape * math.exp(-drawn) * scale
    else:
        for item in range(len(belief.level)):
            belief.prior_rate[item] = belief.item_shape / belief.item_mean[item] * scale
    if belief.passes.shape[0] > 1:
        _draw_levels(belief, rng)


@jit
def _draw_levels(belief: Lived, rng: np.random.Generator) -> None:
    """m_j ~ Gamma(w(s + Σ_s N_sj), w(s/μ_j + Σ_s E_sj ε_sj)), ε at its mean; what is in flight narrows it.

    ε is not known but from the same clicks: with it integrated out, N of a cell say as much of m as Nκ/(κ + mE) would
    if it were. w is the part that is left. Where m is not drawn it is settled at its mean.
    """
    segments, items, slots = belief.passes.shape
    waiting = _pass_rate(belief) if belief.in_flight > 0.0 else 0.0
    own = belief.own_taste
    for item in range(items):
        shape, rate, flying = belief.item_shape, belief.prior_rate[item], 0.0
        evidence = shape
        for segment in range(segments):
            clicks, seen, sent = belief.clicks[IN_USE, segment, item], 0.0, 0.0
            for slot in range(slots):
                bias = belief.drawn_bias[slot] * belief.slot_level[segment, slot]
                seen += bias * belief.passes[segment, item, slot]
                sent += bias * belief.flying[segment, item, slot]
            part = own / (own + belief.level[item] * belief.own_mean[segment, item] * seen)
            shape += clicks
            evidence += part * clicks
            rate += seen * belief.own_level[segment, item]
            flying += part * waiting * sent * belief.own_level[segment, item]
        widened = evidence / shape
        narrowed = widened + flying / rate
        belief.level_evidence[item] = shape * narrowed
        if belief.draws_levels:
            belief.drawn_level[item] = rng.standard_gamma(shape * narrowed) / (rate * narrowed)
        else:
            belief.drawn_level[item] = shape / rate


@inlined
def _pass_rate(belief: Lived) -> float:
    """The part of rounds that end without a click."""
    return (belief.no_clicks + 1.0) / (belief.rounds + 2.0)


@inlined
def _drawn_own(belief: Lived, item: int) -> float:
    """ν of an item to the segment at hand, by β as last drawn."""
    total, columns = 0.0, belief.own_features.shape[2]
    if columns == 0:
        return 1.0
    for column in range(columns):
        total += belief.own_features[belief.segment, item, column] * belief.feature_step[column]
    return math.exp(total)


@jit
def bring_to_hand(belief: Lived, rng: np.random.Generator) -> None:
    """Position bias, shape and rate for the segment at hand."""
    segments, items, slots = belief.passes.shape
    segment, bias = belief.segment, belief.position_bias
    prior = belief.item_shape
    for slot in range(slots):
        bias[slot] = belief.drawn_bias[slot]
    if segments > 1:
        prior = belief.own_taste
        for slot in range(slots):
            shape = belief.own_slots + belief.slot_clicks[IN_USE, segment, slot]
            bias[slot] *= belief.slot_level[segment, slot] * rng.standard_gamma(shape) / shape
    waiting = _pass_rate(belief) if belief.in_flight > 0.0 else 0.0
    for item in range(items):
        rate = (
            prior / (belief.drawn_level[item] * _drawn_own(belief, item)) if segments > 1 else belief.prior_rate[item]
        )
        shape = prior + belief.clicks[IN_USE, segment, item]
        of_prior = rate
        for slot in range(slots):
            rate += bias[slot] * belief.passes[segment, item, slot]
        if segments > 1 and not belief.draws_levels:
            # the variance of log α is 1/shape, and that of log m times the square of the prior's part in the mean
            drawn_to = of_prior / rate
            known = 1.0 / (1.0 + shape * drawn_to * drawn_to / belief.level_evidence[item])
            shape *= known
            rate *= known
        if waiting > 0.0:
            flying = 0.0
            for slot in range(slots):
                flying += bias[slot] * belief.flying[segment, item, slot]
            # as many clicks and as much exposure as are expected: the mean stays
            narrowed = 1.0 + waiting * flying / rate
            shape *= narrowed
            rate *= narrowed
        belief.shape[item] = shape
        belief.rate[item] = rate


@update.register(Lived)
def _update(belief: Lived, ranking: Ranking, clicked: int) -> None:
    take_in(belief, ranking, clicked)


@jit
def take_in(belief: Lived, ranking: Ranking, clicked: int) -> None:
    """One round; compiled once, and not once for each policy."""
    segment, kinds = belief.segment, min(belief.clicks.shape[0], TRIED)
    passes, counted, rate, position_bias = belief.passes, belief.counted, belief.rate, belief.position_bias
    belief.rounds += 1.0
    belief.memory.left -= 1.0
    weight, is_listed = (1.0 if clicked == NO_CLICK else 0.0), False
    if len(belief.seen.lists) > 0:
        mean, mean_bias, total = belief.mean, belief.mean_bias, 1.0
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                total += mean_bias[segment, slot] * mean[segment, ranking[slot]]
        weight = 1.0 / total
        # where the table is full, the round is folded as it comes
        number = number_of(belief.seen, segment, ranking)
        is_listed = number >= 0
        if is_listed:
            for kind in range(kinds):
                belief.seen.rounds[kind, number] += 1.0
    belief.no_clicks += weight
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item != EMPTY:
            counted[item] += 1.0
            passes[segment, item, slot] += weight
            rate[item] += position_bias[slot] * weight
            if not is_listed:
                for kind in range(kinds):
                    belief.folded[kind, segment, item, slot] += weight
    if clicked != NO_CLICK:
        belief.shape[ranking[clicked]] += 1.0
        for kind in range(kinds):
            belief.clicks[kind, segment, ranking[clicked]] += 1.0
            belief.slot_clicks[kind, segment, clicked] += 1.0


@jit
def fold_rarest(belief: Lived) -> None:
    """Make room in the table: the rarest lists become passes at the estimates of the moment."""
    seen, folded = belief.seen, belief.folded
    rare, left = are_rare(seen, IN_USE), int(GIVEN_UP * seen.count) + 1
    for number in range(seen.count):
        if is_given_up(seen, IN_USE, rare, number, left):
            left -= 1
            segment, total = seen.lists[number, 0], weight_of(belief, number)
            for slot in range(folded.shape[3]):
                item = seen.lists[number, slot + 1]
                if item != EMPTY:
                    for kind in range(len(folded)):
                        folded[kind, segment, item, slot] += seen.rounds[kind, number] / total
    give_up(seen, IN_USE, rare)


@update_by_tally.register(Lived)
def _absorb(belief: Lived, clicks: FloatArray, passes: FloatArray) -> None:
    take_in_tally(belief, clicks, passes)


@jit
def take_in_tally(belief: Lived, clicks: FloatArray, passes: FloatArray) -> None:
    """A whole tally."""
    segment, (slots, items) = belief.segment, clicks.shape
    kinds, rounds = min(belief.clicks.shape[0], TRIED), 0.0
    for slot in range(slots):
        for item in range(items):
            rounds += clicks[slot, item]
            for kind in range(kinds):
                belief.clicks[kind, segment, item] += clicks[slot, item]
                belief.slot_clicks[kind, segment, slot] += clicks[slot, item]
                belief.folded[kind, segment, item, slot] += passes[slot, item]
            belief.passes[segment, item, slot] += passes[slot, item]
            belief.counted[item] += clicks[slot, item] + passes[slot, item]
    no_clicks = count_no_clicks(passes)
    rounds += no_clicks
    belief.rounds += rounds
    belief.no_clicks += no_clicks
    belief.memory.left -= rounds
    # now and not at the next decision, which someone waits for
    if belief.rounds >= belief.outdated:
        keep_house(belief, 5)
    belief.wait = 0
    belief.at_hand = False
    if belief.rounds > 0.0 and belief.slots_for_new == math.inf:
        belief.slots_for_new = 0.0
    settle_on_means(belief)


@jit
def settle_on_means(belief: Lived) -> None:
    """Position bias, shape and rate for the segment at hand, at the means of all that is drawn for a decision."""
    segments, items, slots = belief.passes.shape
    segment = belief.segment
    for slot in range(slots):
        belief.position_bias[slot] = belief.mean_bias[segment, slot]
    for item in range(items):
        shape, rate = belief.item_shape, belief.item_shape / belief.item_mean[item]
        belief.prior_rate[item] = rate
        if segments > 1:
            shape, rate = belief.own_taste, belief.own_taste / (belief.level[item] * belief.own_mean[segment, item])
        for slot in range(slots):
            rate += belief.position_bias[slot] * belief.passes[segment, item, slot]
        belief.shape[item] = shape + belief.clicks[IN_USE, segment, item]
        belief.rate[item] = rate
