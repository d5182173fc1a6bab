"""`slotwise evaluate`: the click rate that another list or policy would have, from a click log."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli.fit import show_cleaning
from slotwise.cli.log_options import ESTIMATOR_IDS, FitOptions
from slotwise.cli.options import AsJson, Seed, example, known_ids, takes_options
from slotwise.cli.screen import say, screen
from slotwise.errors import InvalidInput

#: placements that are named where another one was asked for
NAMED = 5
MIXTURE = '{"lists": [{"items": ["tea", "milk"], "probability": 0.5}, …]}'


@example(
    "slotwise evaluate clicks.parquet --ranking tea,coffee,milk",
    "slotwise evaluate a.parquet --target-log b.parquet --item-propensity p",
    "slotwise evaluate clicks.parquet --policy random-bound",
)
@known_ids("Estimators", ESTIMATOR_IDS)
@takes_options
def evaluate(
    source: FitOptions,
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
        typer.Option(metavar="LOG", help="Another log, with the same columns: what it shows, as often as it does."),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="PLACEMENT", help="Which placement, where the log has several.")
    ] = None,
    rounds: Annotated[int, typer.Option(metavar="N", help="Rounds for which a policy is simulated.")] = 10_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Estimate the click rate of another list, or of a policy.

    Or of a mixture of lists, or of what another log shows. By the fitted model; and by inverse propensity, where the
    log holds the probability of each list, or of each item in its slot: by plain and by normalised weights, and doubly
    robust with the model's help.
    """
    from slotwise.logs import evaluate as evaluation
    from slotwise.logs.fitting.targets import lists_shown, mixture_in
    from slotwise.logs.fitting.wording import percent, with_interval

    if sum(one is not None for one in (ranking, policy, mixture, target_log)) != 1:
        raise InvalidInput("one of ranking, policy, mixture and target-log must be given, and not two")
    if ranking is not None and not any(items_in(ranking)):
        raise InvalidInput(f"ranking must name at least one item, got {ranking!r}")
    if (source.placement is None) != (at is None):
        raise InvalidInput("--placement names the column and --at the one to evaluate: give both or none")
    target: Any = policy
    if ranking is not None:
        target = items_in(ranking)
    elif mixture is not None:
        target = mixture_in(mixture)
    elif target_log is not None:
        target = lists_shown(target_log, source.columns, at=at, **source.reading)
    fits = {one.placement: one for one in source.fits()}
    if at not in fits:
        names = sorted(fits, key=lambda name: -fits[name].impressions)[:NAMED]
        raise InvalidInput(f"--at must be a placement of the log, such as {', '.join(map(str, names))}; got {at!r}")
    chosen = fits[at]
    answer = evaluation(chosen, target, propensities=chosen.logged, rounds=rounds, seed=seed)
    if as_json:
        print(json.dumps(answer.to_json(), allow_nan=False))
        return
    console = screen()
    say(console, answer.in_words())
    console.print()
    found = answer.by_propensity
    rates = {"by the fitted model": answer.by_model}
    if found is not None:
        rates["by inverse propensity, plain"] = found.plain
        rates["by inverse propensity, self-normalised"] = found.self_normalised
        if found.doubly_robust is not None:
            rates["by both, doubly robust"] = found.doubly_robust
    kept = percent(answer.counted)
    left_out = "" if kept == percent(answer.observed) else f" ({kept} of what was counted)"
    for words, told in [
        *((name, with_interval(rate)) for name, rate in rates.items()),
        ("in the log", f"{percent(answer.observed)}{left_out}"),
    ]:
        console.print(f"{words:<41}{told}")
    for warning in answer.warnings:
        console.print()
        say(console, f"Note: {warning}")
    show_cleaning(chosen.tally.cleaning)


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
