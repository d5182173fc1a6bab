"""`slotwise evaluate`: the click rate that another list or policy would have, from a click log."""

from __future__ import annotations

import csv
import json
from typing import Annotated

import typer

from slotwise.cli.log_options import ESTIMATOR_IDS, LogOptions
from slotwise.cli.options import AsJson, Seed, example, known_ids, takes_options
from slotwise.cli.screen import screen
from slotwise.errors import InvalidInput


@example(
    "slotwise evaluate clicks.parquet --ranking tea,coffee,milk",
    "slotwise evaluate clicks.parquet --policy random-bound",
)
@known_ids("Estimators", ESTIMATOR_IDS)
@takes_options
def evaluate(
    source: LogOptions,
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
    at: Annotated[
        str | None, typer.Option(metavar="PLACEMENT", help="Which placement, where the log has several.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds for which a policy is simulated.")] = 10_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Estimate the click rate of another list, or of a policy.

    By the fitted model; and by inverse propensity, where the log holds the probability with which each list was shown.
    """
    from slotwise.logs import evaluate as evaluation
    from slotwise.logs.fitting.wording import with_interval

    if (ranking is None) == (policy is None):
        raise InvalidInput("ranking or policy must be given, and not both")
    if not (policy or any(items_in(ranking or ""))):
        raise InvalidInput(f"ranking must name at least one item, got {ranking or policy!r}")
    if (source.placement is None) != (at is None):
        raise InvalidInput("--placement names the column and --at the one to evaluate: give both or none")
    chosen = {one.placement: one for one in source.fits()}.get(at)
    if chosen is None:
        raise InvalidInput(f"at must be a placement of the log, got {at!r}")
    target = policy or items_in(ranking or "")
    answer = evaluation(chosen, target, propensities=chosen.logged, rounds=rounds, seed=seed)
    if as_json:
        print(json.dumps(answer.to_json(), allow_nan=False))
        return
    console = screen()
    console.print(f"by the fitted model      {with_interval(answer.by_model)}")
    if answer.by_propensity is not None:
        console.print(f"by inverse propensity    {with_interval(answer.by_propensity.self_normalised)}")
    console.print(f"in the log               {answer.observed:.2%}")
    for warning in answer.warnings:
        console.print(f"\nNote: {warning}")


def items_in(ranking: str) -> list[str | None]:
    """The items of a list as someone writes it; None for a slot that is left empty.

    >>> items_in('tea, "coffee, black",,milk'), items_in('["coffee, black", null]')
    (['tea', 'coffee, black', None, 'milk'], ['coffee, black', None])
    """
    if ranking.lstrip().startswith("["):
        try:
            listed = json.loads(ranking)
        except json.JSONDecodeError as problem:
            raise InvalidInput(
                f"ranking must be a JSON list or items between commas, got {ranking!r}: {problem}"
            ) from None
        return [None if item is None else str(item) for item in listed]
    (row,) = list(csv.reader([ranking], skipinitialspace=True)) or [[]]
    return [name.strip() or None for name in row]
