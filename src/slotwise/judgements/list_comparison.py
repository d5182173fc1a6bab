"""Two rankings compared: by the judgements of a log, or by the clicks on interleaved pages."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.judgements.judgement_files import HEADS
from slotwise.judgements.relevance import DEPTH, LEVEL, Judgements
from slotwise.logs.reading.columns import column, refuse_missing
from slotwise.logs.reading.log_source import LogSource
from slotwise.logs.reading.value_parsing import as_click

#: by query, documents from the best on
RankedLists = Mapping[str, list[str]]


@dataclass(frozen=True)
class ListComparison:
    """The NDCG of two rankings over the traffic of the queries that both have.

    Parameters
    ----------
    queries
        The queries that both rankings and the log have.
    traffic
        The share of the pages of the log that these are.
    judged
        The share of the first documents of both rankings that the log has shown.
    first, second
        The NDCG of each.
    difference, low, high
        The second less the first, with a 95 % credible interval.
    by_query
        The same of each query, the largest difference first.
    """

    queries: int
    traffic: float
    judged: float
    first: float
    second: float
    difference: float
    low: float
    high: float
    by_query: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return asdict(self)


def read_ranked_lists(path: Path) -> dict[str, list[str]]:
    """Read a judgement list or a ranking: query, docid and rating, with or without a line of heads.

    Parameters
    ----------
    path
        The file; documents with the same rating keep their order.

    Returns
    -------
    dict
        By query, documents from the largest rating on.
    """
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as problem:
        raise UnreadableFile(f"cannot read {path}: {problem}") from None
    rated: dict[str, list[tuple[float, str]]] = {}
    for number, row in enumerate(rows, start=1):
        if not row or (number == 1 and tuple(row[:3]) == HEADS):
            continue
        try:
            query, document, rating = row[0], row[1], float(row[2])
        except (IndexError, ValueError):
            raise InvalidInput(
                f"{path}, line {number}: expected {','.join(HEADS)}, got {','.join(row)[:80]!r}"
            ) from None
        rated.setdefault(query, []).append((rating, document))
    if not rated:
        raise InvalidInput(f"{path} has no line of {','.join(HEADS)}")
    return {
        query: [document for _, document in sorted(each, key=lambda pair: -pair[0])] for query, each in rated.items()
    }


def compare_lists(judged: Judgements, first: RankedLists, second: RankedLists, seed: int = 0) -> ListComparison:
    """Compare two rankings by the judgements of a log; documents that the log never showed have no gain.

    Parameters
    ----------
    judged
        The judgements.
    first, second
        The rankings.
    seed
        Seed of the posterior draws.

    Returns
    -------
    ListComparison
        The difference of NDCG, with an interval.
    """
    counts = judged.counts
    places = {pair: cell for cell, pair in enumerate(zip(counts.query.tolist(), counts.documents, strict=True))}
    common = [number for number, query in enumerate(counts.queries) if query in first and query in second]
    if not common:
        raise InvalidInput("the rankings and the log have no query in common")
    discounts = 1.0 / np.log2(np.arange(2, DEPTH + 2))
    gains = judged.relevance_draws(seed)
    known, values = [], np.zeros((2, len(gains), len(common)))
    for place, number in enumerate(common):
        mine = gains[:, slice(*np.searchsorted(counts.query, [number, number + 1]))]
        ideal = -np.sort(-mine, axis=1)[:, :DEPTH]
        for side, lists in enumerate((first, second)):
            cells = [places.get((number, document)) for document in lists[counts.queries[number]][:DEPTH]]
            known += [cell is not None for cell in cells]
            values[side, :, place] = sum(
                (discounts[slot] * gains[:, cell] for slot, cell in enumerate(cells) if cell is not None),
                np.zeros(len(gains)),
            ) / (ideal @ discounts[: ideal.shape[1]])
    pages = counts.pages[common]
    tails = [0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0]
    difference = values[1] - values[0]
    limits, middle = np.quantile(difference, tails, axis=0), values.mean(axis=1)
    weights = pages / pages.sum()
    low, high = np.quantile(difference @ weights, tails).tolist()
    rows = [
        {
            "query": counts.queries[number],
            "pages": int(pages[place]),
            "first": float(middle[0, place]),
            "second": float(middle[1, place]),
            "low": float(limits[0, place]),
            "high": float(limits[1, place]),
        }
        for place, number in enumerate(common)
    ]
    before, after = (middle @ weights).tolist()
    return ListComparison(
        len(common),
        float(pages.sum() / counts.pages.sum()),
        float(np.mean(known)),
        before,
        after,
        after - before,
        low,
        high,
        sorted(rows, key=lambda row: -abs(row["second"] - row["first"])),
    )


@dataclass(frozen=True)
class InterleavingResult:
    """How often each team of interleaved pages got more clicks.

    Parameters
    ----------
    pages
        Pages with a click on a document of a team.
    first, second, ties
        Pages on which the first team had more clicks, the second, or both as many.
    share, low, high
        The share of the second among the pages that one team won, with a 95 % confidence interval.
    p_value
        Of a two-sided sign test that both teams are equally good.
    """

    pages: int
    first: int
    second: int
    ties: int
    share: float
    low: float
    high: float
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return asdict(self)


def compare_teams(source: LogSource, team: str, first: str, second: str) -> InterleavingResult:
    """Evaluate team-draft interleaving: the team with more clicks wins a page.

    The method is that of Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality? (2008).

    Parameters
    ----------
    source
        A log with a row per shown item.
    team
        The column that names the team of the item.
    first, second
        The names of the teams.

    Returns
    -------
    InterleavingResult
        The pages that each team won.
    """
    names = source.columns
    with source.open() as (table, _):
        for role, name in (("team", team), ("impression", names.impression), ("click", names.clicked)):
            refuse_missing(table, role, name)
        of_team = column(table, team).cast("string")
        clicked = as_click(column(table, names.clicked), names.clicked).fill_null(False)
        rows = table.select(
            page=column(table, names.impression), item=column(table, names.item), team=of_team, hit=clicked
        )
        hits = rows.filter(rows.hit & rows.team.isin([first, second])).distinct()
        counts = hits.group_by("page").aggregate(ahead=(hits.team == second).sum() - (hits.team == first).sum())
        ahead = counts.to_pyarrow()["ahead"].to_numpy()
    won, lost = int((ahead > 0).sum()), int((ahead < 0).sum())
    if won + lost == 0:
        raise InvalidInput(f"no page was won by {first!r} or {second!r} of the column {team!r}")
    test = binomtest(won, won + lost)
    interval = test.proportion_ci(LEVEL)
    return InterleavingResult(
        len(ahead), lost, won, len(ahead) - won - lost, won / (won + lost), interval.low, interval.high, test.pvalue
    )
