"""Guardrails: the rate of an event per view in the learned arm, compared with the holdout's."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable

from slotwise.service.reports.ab_test import MIN_CLICKS, ArmComparison, compare
from slotwise.service.reports.uplift import (
    ALWAYS,
    MAX_CHANGES,
    UpliftEvidence,
    changes_of_share,
    ratio_document,
    strata_of,
)
from slotwise.service.schemas.definition import Guardrail, PlacementDefinition
from slotwise.service.schemas.overview_schemas import GuardrailDocument
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import LAST, ArmCounts, CountPeriod
from slotwise.service.storage.decision_types import DAY, Arm
from slotwise.service.storage.placements_table import Change
from slotwise.service.storage.rewards import CLICK

#: fields whose change begins the comparison anew, so that a placement that is put back is not held again at once
_TERMS = {"mode", "guardrails", "reward"}


def read_guardrails(store: Store, name: str, definition: PlacementDefinition) -> list[GuardrailDocument]:
    """The guardrails of a placement with their verdicts; one is broken if its anytime-valid interval says so."""
    if not definition.guardrails:
        return []
    with store.snapshot():
        changes = store.changes(name, MAX_CHANGES)
        since = math.ceil(max((change.time for change in changes if _TERMS & _fields(change)), default=0.0))
        views = [row for row in store.arm_counts(name, since, LAST, by_segment=False) if row.period.hours]
        events = _by_event(store, name, since, {row.period for row in views if row.clicked + row.no_click})
    changed = changes_of_share(changes)
    return [
        _document(guardrail, _compared(views, events.get(guardrail.event, Counter()), guardrail, changed))
        for guardrail in definition.guardrails
    ]


def _fields(change: Change) -> set[str]:
    return set(json.loads(change.what or "{}").get("fields", {}))


def _by_event(
    store: Store, name: str, since: int, periods: set[CountPeriod]
) -> dict[str, Counter[tuple[CountPeriod, Arm]]]:
    """Decisions with each event by period and arm; an hour that was merged into its day counts there."""
    by_event: dict[str, Counter[tuple[CountPeriod, Arm]]] = {}
    for period, arm, event, decisions in store.event_counts(name, since):
        if period not in periods:
            period = CountPeriod(period.start // DAY * DAY, 24)
        by_event.setdefault(event, Counter())[period, arm] += decisions
    return by_event


def _compared(
    views: Iterable[ArmCounts],
    decisions: Counter[tuple[CountPeriod, Arm]],
    guardrail: Guardrail,
    changed: list[float],
) -> ArmComparison:
    arms = []
    for row in views:
        shown = row.clicked + row.no_click
        with_event = row.clicked if guardrail.event == CLICK else decisions[row.period, row.arm]
        arms.append(row._replace(clicked=with_event, no_click=shown - with_event, value=0.0, squares=0.0))
    strata = strata_of(UpliftEvidence(ALWAYS, arms, (), changed, {}))
    return compare(strata, min_size=MIN_CLICKS, both_ways=True)


def _document(guardrail: Guardrail, compared: ArmComparison) -> GuardrailDocument:
    ratio, bound = compared.ratio, 1.0 - guardrail.worse_by
    document: GuardrailDocument = {
        **guardrail.model_dump(),  # type: ignore[typeddict-item]
        "state": "unclear",
        "sentence": f"{guardrail.metric}: it is too early to compare.",
        "learned": compared.learned,
        "holdout": compared.holdout,
        "ratio": None if ratio is None else ratio_document(ratio),
        "too_early": compared.too_early,
    }
    if ratio is None:
        return document
    part = f"{100 * (1.0 - ratio.estimate):.2g} % fewer {guardrail.event} per view than the control order"
    if ratio.anytime.high < bound:
        sentence = f"{guardrail.metric} is broken: the learned lists bring {part}."
        return {**document, "state": "broken", "sentence": sentence}
    if ratio.anytime.low >= bound:
        return {**document, "state": "holds", "sentence": f"{guardrail.metric} holds."}
    return {**document, "sentence": f"{guardrail.metric}: the interval does not decide yet."}
