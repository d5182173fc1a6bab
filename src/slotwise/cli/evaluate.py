"""`slotwise evaluate`: the click rate that another list or policy would have, from a click log."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from slotwise.cli.logs import (
    AsJson,
    Clicked,
    Engine,
    Estimator,
    Impression,
    Item,
    Log,
    Master,
    Memory,
    MultiClicks,
    Order,
    Placement,
    Propensity,
    Slot,
    TableName,
    fitted,
    screen,
)
from slotwise.errors import InvalidInput


def evaluate(
    log: Log,
    ranking: Annotated[
        str | None, typer.Option(help="Items from the first slot on, with commas between: tea,coffee,milk.")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="A policy's id, or ID:option=value; simulated on the fit.")] = None,
    at: Annotated[str | None, typer.Option(help="Which placement, where the log has several.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds for which a policy is simulated.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    impression: Impression = "impression",
    slot: Slot = "slot",
    item: Item = "item",
    clicked: Clicked = "clicked",
    placement: Placement = None,
    order: Order = None,
    propensity: Propensity = None,
    multi_click: MultiClicks = None,
    estimator: Estimator = "scaling",
    table: TableName = None,
    engine: Engine = "duckdb",
    master: Master = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the click rate that another list, or a policy, would have."""
    from slotwise.logs import Columns
    from slotwise.logs import evaluate as evaluation
    from slotwise.logs.fitting.wording import with_interval

    if (ranking is None) == (policy is None):
        raise InvalidInput("ranking or policy must be given, and not both")
    if not (policy or (ranking or "").strip(" ,")):
        raise InvalidInput(f"ranking must name at least one item, got {ranking or policy!r}")
    if (placement is None) != (at is None):
        raise InvalidInput("--placement names the column and --at the one to evaluate: give both or none")
    columns = Columns(impression, slot, item, clicked, placement, order, propensity)
    found = fitted(
        log, columns, estimator, multi_click=multi_click, table=table, engine=engine, master=master, memory=memory
    )
    chosen = {one.placement: one for one in found}.get(at)
    if chosen is None:
        raise InvalidInput(f"at must be a placement of the log, got {at!r}")
    target = policy or [name.strip() or None for name in (ranking or "").split(",")]
    answer = evaluation(chosen, target, propensities=chosen.logged, rounds=rounds, seed=seed)
    if as_json:
        print(json.dumps(answer.to_json(), allow_nan=False))
        return
    console = screen()
    console.print(f"by the fitted model      {with_interval(answer.by_model)}")
    if answer.by_propensity is not None:
        normalised = with_interval(answer.by_propensity.self_normalised)
        console.print(f"by inverse propensity    {normalised}")
    console.print(f"in the log               {answer.observed:.2%}")
    for warning in answer.warnings:
        console.print(f"\nNote: {warning}")
