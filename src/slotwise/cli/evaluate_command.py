"""`slotwise evaluate`: off-policy evaluation of a list or a policy from a click log."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli.shared.command_options import AsJson, Seed, example, known_ids, takes_options
from slotwise.cli.shared.console import progress_bar, show
from slotwise.cli.shared.log_options import ESTIMATOR_IDS, FitArguments
from slotwise.core.errors import InvalidInput, InvalidRanking, UnknownName

#: placements that an error names
MAX_NAMED = 5
MIXTURE = '{"lists": [{"items": ["tea", "milk"], "probability": 0.5}, …]}'


@example(
    "slotwise evaluate clicks.parquet --ranking tea,coffee,milk",
    "slotwise evaluate a.parquet --target-log b.parquet --item-propensity p",
    "slotwise evaluate clicks.parquet --policy thompson-sampling",
)
@known_ids("Estimators", ESTIMATOR_IDS)
@takes_options
def evaluate(
    log: FitArguments,
    ranking: Annotated[
        str | None,
        typer.Option(
            metavar="ITEMS",
            help="Items from the first slot on, separated by commas: tea,coffee,milk. An item with a comma in its name "
            "goes into double quotes; or give a JSON list.",
        ),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="ID", help="A policy's id, or ID:option=value; simulated on the fit.")
    ] = None,
    mixture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"Lists with the probability of each, as JSON: {MIXTURE}."),
    ] = None,
    target_log: Annotated[
        str | None,
        typer.Option(metavar="LOG", help="Another log, with the same columns: its lists, with their frequencies."),
    ] = None,
    at: Annotated[str | None, typer.Option(metavar="PLACEMENT", help="The placement, if the log has several.")] = None,
    rounds: Annotated[int, typer.Option(metavar="N", help="Rounds for which a policy is simulated.")] = 10_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Estimate the click rate of another list, or of a policy.

    Or of a mixture of lists, or of the lists of another log. The fitted model gives one estimate. Inverse propensity
    gives more (plain, self-normalised, doubly robust), if the log has the probability of each list or item.
    """
    from slotwise import logs

    if sum(each is not None for each in (ranking, policy, mixture, target_log)) != 1:
        raise InvalidInput("exactly one of ranking, policy, mixture and target-log must be given")
    if (log.placement is None) != (at is None):
        raise InvalidInput("--placement names the column and --at the one to evaluate: give both or none")
    target: Any = policy
    if ranking is not None:
        target = items_in(ranking)
    elif mixture is not None:
        target = logs.read_mixture(mixture)
    elif target_log is not None:
        target = logs.lists_shown(log.source(target_log), at=at)
    with progress_bar() as tell:
        source = log.source()
        by_placement = {fit.placement: fit for fit in log.fit_placements(source, tell)}
    if at not in by_placement:
        names = sorted(by_placement, key=lambda name: -by_placement[name].impressions)[:MAX_NAMED]
        raise InvalidInput(f"--at must be a placement of the log, such as {', '.join(map(str, names))}; got {at!r}")
    fit = by_placement[at]
    try:
        evaluation = logs.evaluate(fit, target, propensities=fit.logged, rounds=rounds, seed=seed)
    except (InvalidRanking, UnknownName) as problem:
        file = target_log or mixture
        if file is None:
            raise
        raise InvalidInput(f"{file}: {problem}") from problem
    if as_json:
        print(json.dumps(evaluation.to_dict(), allow_nan=False))
    else:
        show(logs.evaluation_text(evaluation) + logs.cleaning_text(fit.tally.cleaning))


def items_in(ranking: str) -> list[str | None]:
    """Return the items of a list on the command line; None for an empty slot.

    >>> items_in('tea, "coffee, black",,milk'), items_in('["coffee, black", null]')
    (['tea', 'coffee, black', None, 'milk'], ['coffee, black', None])
    """
    if ranking.lstrip().startswith("["):
        try:
            items = [None if item is None else str(item) for item in json.loads(ranking)]
        except json.JSONDecodeError as problem:
            raise InvalidInput(
                f"ranking must be a JSON list or items between commas, got {ranking!r}: {problem}"
            ) from None
    else:
        (row,) = list(csv.reader([ranking], skipinitialspace=True)) or [[]]
        items = [name.strip() or None for name in row]
    if not any(items):
        raise InvalidInput(f"ranking must name at least one item, got {ranking!r}")
    return items
