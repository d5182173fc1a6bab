"""The steps that all event formats share: reading files, joining clicks to what was shown, and values of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slotwise.core.errors import InvalidInput

#: the largest object of a file of JSON, in bytes, and the lines of a file that tell its form
MAX_OBJECT, FIRST_LINES = 64 * 2**20, 1_000
#: by name, the actions that count as a click; a later one is worth more
CLICKS: Mapping[str, tuple[str, ...]] = {
    "click": ("click", "click_through", "select_item"),
    "cart": ("add_to_cart",),
    "purchase": ("purchase",),
}
#: one spelling of a query: lower case, single blanks
ONE_SPELLING = "nullif(trim(regexp_replace(lower({}), '\\s+', ' ', 'g')), '')"
#: seconds, from a time or from a number of seconds or milliseconds
SECONDS = """coalesce(epoch(try_cast({0} AS TIMESTAMPTZ)),
    CASE WHEN try_cast({0} AS DOUBLE) > 1e11 THEN try_cast({0} AS DOUBLE) / 1e3 ELSE try_cast({0} AS DOUBLE) END)"""


@dataclass(frozen=True)
class EventValues:
    """The value of the events of a document: the largest of their weights.

    Parameters
    ----------
    weights
        By event: click, cart, purchase, or the name of another action. None to learn each as the share of documents
        with that event that are purchased.
    """

    weights: Mapping[str, float] | None = None

    @classmethod
    def of_text(cls, text: str) -> EventValues:
        """Return the values that a text such as `click=1,cart=3,purchase=10` gives, or `learned`."""
        if text == "learned":
            return cls()
        weights: dict[str, float] = {}
        for part in text.split(","):
            name, _, number = part.partition("=")
            try:
                weights[name.strip()] = float(number)
            except ValueError:
                raise InvalidInput(f"weights must be learned or like click=1,purchase=10, got {part!r}") from None
        return cls(weights)

    def __post_init__(self) -> None:
        for name, weight in (self.weights or {}).items():
            if not (name and 0.0 <= weight < float("inf")):
                raise InvalidInput(f"the weight of an event must be a number of 0 or more, got {name}={weight}")
        if self.weights is not None and not any(self.weights.values()):
            raise InvalidInput("weights must have one above 0, got none")


@dataclass
class EventKinds:
    """The numbers of the events that count as clicks, from 1 on; 0 is an impression.

    Parameters
    ----------
    shown
        The action that shows documents.
    values
        Values of events; None if only clicks are wanted.
    """

    shown: str
    values: EventValues | None = None
    actions: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        given = () if self.values is None else tuple(self.values.weights or ())
        known = {action for actions in CLICKS.values() for action in actions}
        self.actions = {**CLICKS, **{name: (name,) for name in given if name not in CLICKS and name not in known}}

    def number_of(self, column: str) -> str:
        """The expression of the number of an action: null for no action, -1 for another one."""
        cases = [f"WHEN {self.shown!r} THEN 0"]
        cases += [
            f"WHEN {_quoted(action)} THEN {number}"
            for number, actions in enumerate(self.actions.values(), start=1)
            for action in actions
        ]
        return f"CASE {column} {' '.join(cases)} ELSE CASE WHEN {column} IS NOT NULL THEN -1 END END::TINYINT"

    def weigh(self, run: Any, path: str) -> dict[str, float]:
        """Return the weight of each event; learned weights need the table `clicks`."""
        if self.values is None:
            return {}
        if self.values.weights is not None:
            same = {action: name for name, actions in self.actions.items() for action in actions}
            return {same.get(name, name): weight for name, weight in self.values.weights.items()}
        purchase = list(self.actions).index("purchase") + 1
        shares = [
            f"count(*) FILTER (kinds & {1 << number} > 0 AND kinds & {1 << purchase} > 0) "
            f"/ nullif(count(*) FILTER (kinds & {1 << number} > 0), 0)"
            for number in range(1, len(self.actions) + 1)
        ]
        (learned,) = run.execute(
            f"SELECT {', '.join(shares)} FROM clicks SEMI JOIN shown USING (page, item)"
        ).fetchall()
        if not learned[purchase - 1]:
            raise InvalidInput(
                f"{path} has no purchase to learn weights from, of a document that was shown: give weights, as in "
                "click=1,cart=3"
            )
        return {name: share for name, share in zip(self.actions, learned, strict=True) if share is not None}

    def value_of(self, weights: Mapping[str, float]) -> str:
        """The expression of the largest weight among the bits of `kinds`."""
        if not weights:
            return "0.0"
        numbers = {name: number for number, name in enumerate(self.actions, start=1)}
        parts = [f"CASE WHEN kinds & {1 << numbers[name]} > 0 THEN {weight!r} END" for name, weight in weights.items()]
        return f"coalesce(greatest({', '.join(parts)}), 0.0)::DOUBLE"


def read_events(run: Any, files: Sequence[str], types: Mapping[str, str]) -> None:
    """Make a view `raw` of all files, with these columns and types."""
    parquet = [file for file in files if file.endswith(".parquet")]
    lines = [file for file in files if file not in parquet]
    parts = []
    if parquet:
        view = f"read_parquet({parquet!r}, union_by_name=true)"
        there = {row[0] for row in run.execute(f"DESCRIBE FROM {view}").fetchall()}
        columns = [f"CAST({name if name in there else 'NULL'} AS {kind}) AS {name}" for name, kind in types.items()]
        parts.append(f"SELECT {', '.join(columns)} FROM {view}")
    # a hit of a search has the document below _source; to look there in all files takes a third longer
    hits = [file for file in lines if _has_hits(run, file)]
    plain = [file for file in lines if file not in hits]
    if plain:
        parts.append(f"SELECT {', '.join(types)} FROM {_json(plain, types)}")
    if hits:
        whole = f"STRUCT({', '.join(f'{name} {kind}' for name, kind in types.items())})"
        columns = [f"coalesce({name}, _source.{name}) AS {name}" for name in types]
        parts.append(f"SELECT {', '.join(columns)} FROM {_json(hits, {**types, '_source': whole})}")
    run.execute(f"CREATE VIEW raw AS {' UNION ALL '.join(parts)}")


def _has_hits(run: Any, file: str) -> bool:
    view = f"read_json({file!r}, columns={{'_source': 'JSON'}}, ignore_errors=true)"
    return bool(count(run, f"SELECT count(*) FROM (FROM {view} LIMIT {FIRST_LINES}) WHERE _source IS NOT NULL"))


def _json(files: Sequence[str], types: Mapping[str, str]) -> str:
    return f"read_json({list(files)!r}, columns={dict(types)!r}, maximum_object_size={MAX_OBJECT})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def join_clicks(run: Any, kinds: EventKinds, path: str) -> tuple[dict[str, int], dict[str, float]]:
    """Make the table `log` from `shown`, `clicks` and `texts`; return findings, and the weights of events."""
    weights = kinds.weigh(run, path)
    value = f", {kinds.value_of(weights)} AS value" if weights else ""
    run.execute(f"""
        CREATE TABLE log AS SELECT page AS impression, query, item, slot,
            kinds IS NOT NULL AS clicked, click_time{value}
        FROM shown LEFT JOIN clicks USING (page, item) LEFT JOIN texts USING (page)""")
    lost = "FROM clicks ANTI JOIN (SELECT impression AS page, item FROM log WHERE clicked) USING (page, item)"
    first, more = run.execute(
        f"SELECT count(*) FILTER (kinds & 2 > 0), count(*) FILTER (kinds & 2 = 0) {lost}"
    ).fetchone()
    return {
        "clicks_without_impression": first,
        "later_without_impression": more,
        "merged_queries": count(
            run, "SELECT count(DISTINCT spelling) - count(DISTINCT query) FROM texts WHERE query IS NOT NULL"
        ),
    }, weights


def count(run: Any, query: str) -> int:
    """Return the number that a query selects."""
    ((value,),) = run.execute(query).fetchall()
    return int(value)
