"""How good fits of logs are: coverage of intervals on simulated logs, and which model predicts a real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from research.log_study.simulated_logs import KINDS, LogKind, Placement
from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, FloatArray
from slotwise.estimators import Estimate, estimators
from slotwise.estimators.estimator_registry import EstimatorEntry
from slotwise.estimators.pooled.placement_cells import Cells
from slotwise.logs.evaluation.holdout_comparison import MODELS, common_odds
from slotwise.logs.fitting.fit_log import SHRUNKEN
from slotwise.logs.fitting.holdout_split import PART, log_likelihood, split
from slotwise.logs.fitting.placement_pooling import BIASES, pool_placements
from slotwise.posterior import fit_posterior

#: from placements to an estimate of each
Fitted = Callable[[Sequence[Placement]], Sequence[Estimate]]
LEVEL = 0.95
LOGS, SPLITS = 200, 3
#: number of draws of clicks on given lists
DRAWS = 3
#: the belief of a service is formed placement by placement, which takes longer: of a part of the logs
FEWER = 8
#: the model of `MODELS` that is also fitted to all placements as one
FIRST = next(iter(MODELS))
#: odds of an estimator that are smaller are taken for this; those that it does not determine for those of all pairs
MIN_ODDS = 1e-9


@dataclass(frozen=True)
class Coverage:
    """The default fit's intervals on logs of one kind, by items that were shown and by slots after the first."""

    kind: str
    logs: int
    items: float
    items_error: float
    slots: float
    slots_error: float
    #: the middle of high/low over all items, and over all slots
    item_width: float
    slot_width: float


def coverage(name: str, logs: int = LOGS, seed: int = 1, *, by: Fitted | None = None) -> Coverage:
    """Fit logs of a kind, by default as `slotwise fit` does, and measure the coverage of the intervals."""
    kind = KINDS[name]
    shares: list[tuple[float, float]] = []
    widths: tuple[list[float], list[float]] = ([], [])
    for rng in np.random.default_rng(seed).spawn(logs):
        held: tuple[list[Any], list[Any]] = ([], [])
        made = kind.make(rng)
        for one, estimate in zip(made, (by or _by_default)(made), strict=True):
            said = estimate.intervals(LEVEL)
            shown = one.seen.showings.sum(axis=0) > 0
            held[0].extend(said.attractiveness.covers(one.attractiveness)[shown])
            widths[0].extend((said.attractiveness.high / said.attractiveness.low)[shown])
            held[1].extend(said.position_bias.covers(one.position_bias)[1:])
            widths[1].extend((said.position_bias.high / said.position_bias.low)[1:])
        shares.append((float(np.mean(held[0])), float(np.mean(held[1]))))
    mean = np.mean(shares, axis=0)
    error = np.std(shares, axis=0, ddof=1) / np.sqrt(logs) if logs > 1 else np.full(2, np.nan)
    return Coverage(
        name, logs, mean[0], error[0], mean[1], error[1], float(np.median(widths[0])), float(np.median(widths[1]))
    )


def _by_default(made: Sequence[Placement]) -> Sequence[Estimate]:
    seen = [one.seen for one in made]
    return pool_placements(seen, seen, [one.item_ids for one in made])[0].estimates


def _as_a_service(made: Sequence[Placement]) -> Sequence[Estimate]:
    return [fit_posterior(one.seen.tally).estimate for one in made]


def coverage_by_placement(made: Sequence[Placement], by: Fitted) -> list[tuple[float, float]]:
    """Of each placement, the shares of intervals of items that were shown and of slots that hold what is true."""
    found = []
    for one, estimate in zip(made, by(made), strict=True):
        items, slots = (
            said.covers(true)
            for said, true in zip(estimate.intervals(LEVEL), (one.attractiveness, one.position_bias), strict=True)
        )
        found.append((float(items[one.seen.showings.sum(axis=0) > 0].mean()), float(slots[1:].mean())))
    return found


def clicked_anew(lists: Sequence[Rankings], item_ids: Sequence[Sequence[str]], seed: int = 0) -> list[Placement]:
    """The same lists as often as they were shown, with clicks of users who are as the default fit says."""
    rng = np.random.default_rng(seed)
    made = []
    for one, ids, fit in zip(lists, item_ids, pool_placements(lists, lists, item_ids)[0].estimates, strict=True):
        worth = np.where(one.shown == EMPTY, 0.0, fit.position_bias * fit.attractiveness[np.maximum(one.shown, 0)])
        chances = np.column_stack([worth, np.ones(len(worth))])
        counts = rng.multinomial(one.times, chances / chances.sum(axis=1, keepdims=True))
        seen = Rankings(one.shown, counts[:, :-1], counts[:, -1], items=one.items)
        made.append(Placement(seen, tuple(ids), fit.attractiveness, fit.position_bias))
    return made


def foretold(lists: Sequence[Rankings], item_ids: Sequence[Sequence[str]], splits: int = SPLITS) -> dict[str, float]:
    """By model, the mean log-likelihood of an impression that was held out, over several random splits, best first."""
    sums: dict[str, float] = {}
    held = 0
    for seed in range(splits):
        rng = np.random.default_rng(1_000 + seed)
        parts = [split(one, PART, rng) for one in lists]
        kept_out, rest = [one for one, _ in parts], [two for _, two in parts]
        held += sum(one.rounds for one in kept_out)
        for name, odds in _models(rest, item_ids, seed):
            total = sum(log_likelihood(one, each) for one, each in zip(kept_out, odds, strict=True))
            sums[name] = sums.get(name, 0.0) + total
    return dict(sorted(((name, total / held) for name, total in sums.items()), key=lambda one: -one[1]))


def _models(
    rest: Sequence[Rankings], item_ids: Sequence[Sequence[str]], seed: int
) -> Iterator[tuple[str, list[FloatArray]]]:
    """γ of every placement, by each model."""
    for bias in BIASES:
        found, _ = pool_placements(rest, rest, item_ids, bias=bias, seed=seed)
        yield (
            f"`pooled`, slots {bias}",
            [np.outer(one.position_bias, one.attractiveness) for one in found.estimates],
        )
    for name, model in MODELS.items():
        yield f"{name}, weak prior", [model(one) for one in rest]
    yield f"{FIRST}, slots shared, weak prior", _together(MODELS[FIRST], rest)
    for entry in estimators():
        if entry.position_bias == "unknown":
            yield f"`{entry.id}`", [_finite(one, _alone(entry, one)) for one in rest]


def _together(model: Callable[[Rankings], FloatArray], seen: Sequence[Rankings]) -> list[FloatArray]:
    """γ of every placement, by a model of all of them as one, with items of their own: slots are worth the same."""
    cells = Cells.of(seen)
    assert cells.lists is not None
    shown, clicks, passes, _ = cells.lists
    odds = model(Rankings(shown, clicks.astype(np.int64), passes[:, 0].astype(np.int64), items=cells.count))
    return [odds[: one.slots, cells.of_placement(number)] for number, one in enumerate(seen)]


def _alone(entry: EstimatorEntry, seen: Rankings) -> Estimate:
    """As `slotwise fit` has it: the priors of a maximum a posteriori are learned, as a service learns them."""
    return fit_posterior(seen.tally).estimate if entry.id == SHRUNKEN else entry.estimate(seen)


def _finite(seen: Rankings, estimate: Estimate) -> FloatArray:
    with np.errstate(invalid="ignore", over="ignore"):
        odds = np.outer(estimate.position_bias, estimate.attractiveness)
    usable = np.isfinite(odds)
    return np.where(usable, np.maximum(np.where(usable, odds, 1.0), MIN_ODDS), common_odds(seen))


def tables(
    *, logs: int = LOGS, splits: int = SPLITS, draws: int = DRAWS, log: Path | None = None, seed: int = 1
) -> str:
    """Both tables, as Markdown; the second for made-up search logs, or for `log`."""
    lines = [
        f"Shares of {LEVEL:.0%} intervals that held the truth, over {logs} made-up logs of each kind, ± standard",
        "error; in brackets the middle of their upper limits divided by their lower ones.",
        "",
        "| log | items | slots |",
        "| --- | ---: | ---: |",
    ]
    lines += [_row(name, kind, coverage(name, logs, seed)) for name, kind in KINDS.items()]
    fewer = max(2, logs // FEWER)
    lines += [
        "",
        f"The same of `maximum-a-posteriori`, over {fewer} logs of each kind:",
        "",
        "| log | items | slots |",
        "| --- | ---: | ---: |",
        *(_row(name, kind, coverage(name, fewer, seed, by=_as_a_service)) for name, kind in KINDS.items()),
    ]
    lists, ids, words = _of_kind(KINDS["search"], seed) if log is None else _of_file(log)
    lines += [
        "",
        f"The same over the placements of {words}, with clicks drawn anew of users who are as the",
        f"default fit says, {draws} times: the mean over placements, the least and the most",
        "",
        "| intervals | items | slots |",
        "| --- | ---: | ---: |",
        *_anew(lists, ids, seed, draws),
        "",
        f"Mean log-likelihood of an impression held out, {splits} random splits, of {words}:",
        "",
        "| model | log-likelihood |",
        "| --- | ---: |",
        *(f"| {name} | {value:.4f} |" for name, value in foretold(lists, ids, splits).items()),
        "",
    ]
    return "\n".join(lines)


def _row(name: str, kind: LogKind, one: Coverage) -> str:
    return (
        f"| {name}: {kind.about} | {one.items:.3f} ± {one.items_error:.3f} ({one.item_width:.2g}) "
        f"| {one.slots:.3f} ± {one.slots_error:.3f} ({one.slot_width:.2g}) |"
    )


def _anew(lists: Sequence[Rankings], ids: Sequence[Sequence[str]], seed: int, draws: int) -> Iterator[str]:
    made = [clicked_anew(lists, ids, seed + draw) for draw in range(draws)]
    for name, by in (("`pooled`", _by_default), ("`maximum-a-posteriori`", _as_a_service)):
        columns = np.mean([coverage_by_placement(one, by) for one in made], axis=0).T
        told = (f"{column.mean():.2f}, {column.min():.2f} to {column.max():.2f}" for column in columns)
        yield f"| {name} | {' | '.join(told)} |"


def _of_kind(kind: LogKind, seed: int) -> tuple[list[Rankings], list[tuple[str, ...]], str]:
    made = kind.make(np.random.default_rng(seed))
    return [one.seen for one in made], [one.item_ids for one in made], f"a made-up log: {kind.about}"


def _of_file(path: Path) -> tuple[list[Rankings], list[tuple[str, ...]], str]:
    """The placements of a log."""
    from slotwise.logs import fit_placements
    from slotwise.logs.reading.public_datasets import load, recognised

    format = recognised(str(path))
    source, columns = (str(path), None) if format is None else load(str(path), format)
    found = fit_placements(source, columns, sample=None)
    lists = [one.rankings for one in found if one.rankings is not None]
    ids = [tuple(one.item_ids) for one in found if one.rankings is not None]
    pages = sum(one.rounds for one in lists)
    return lists, ids, f"{path.name}, {len(lists):,} placements and {pages:,} impressions"
