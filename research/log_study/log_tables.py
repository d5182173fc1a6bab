"""Which click model predicts a log best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from research.log_study.simulated_logs import KINDS, LogKind
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators import Estimate, estimators
from slotwise.estimators.estimator_registry import EstimatorEntry
from slotwise.estimators.pooled.placement_cells import Cells
from slotwise.logs.evaluation.holdout_comparison import MODELS, common_odds
from slotwise.logs.fitting.fit_log import SHRUNKEN
from slotwise.logs.fitting.holdout_split import PART, log_likelihood, split
from slotwise.logs.fitting.placement_pooling import BIASES, pool_placements
from slotwise.posterior import fit_posterior

SPLITS = 3
#: the model of `MODELS` that is also fitted to all placements as one
FIRST = next(iter(MODELS))
#: odds of an estimator that are smaller are taken for this; those that it does not determine for those of all pairs
MIN_ODDS = 1e-9


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


def tables(*, splits: int = SPLITS, log: Path | None = None, seed: int = 1) -> str:
    """Return the table of a simulated search log, or of `log`, as Markdown."""
    lists, ids, words = _of_kind(KINDS["search"], seed) if log is None else _of_file(log)
    lines = [
        f"Mean log-likelihood of an impression held out, {splits} random splits, of {words}:",
        "",
        "| model | log-likelihood |",
        "| --- | ---: |",
        *(f"| {name} | {value:.4f} |" for name, value in foretold(lists, ids, splits).items()),
        "",
    ]
    return "\n".join(lines)


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
