"""Targets of an evaluation other than one list: a mixture of lists from a file, or the lists of another log."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.core.types import EMPTY
from slotwise.logs.counting.cleaning import cleaned
from slotwise.logs.counting.impressions import impressions_by_placement
from slotwise.logs.counting.log_tallies import tally_by_placement
from slotwise.logs.reading.columns import Columns, without_clicks
from slotwise.logs.reading.log_source import LogOptions, LogSource

#: lists, an id per slot and None where a slot is empty, with the probability of each
Mixture = dict[tuple[str | None, ...], float]
SHAPE = '{"lists": [{"items": ["tea", "milk"], "probability": 0.5}, …]}'


def read_mixture(file: Path) -> Mixture:
    """Read a mixture from a JSON file: lists of items, each with its probability.

    Parameters
    ----------
    file
        The path of the file.

    Returns
    -------
    dict of tuple to float
        The probability of each list.

    Raises
    ------
    UnreadableFile
        If the file cannot be opened.
    InvalidInput
        If the content is not a mixture.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        listed = [(tuple(entry["items"]), float(entry["probability"])) for entry in content["lists"]]
    except OSError as problem:
        raise UnreadableFile(f"{file}: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError) as problem:
        raise InvalidInput(f"{file} must be like {SHAPE}, got something else: {problem!r}") from None
    mixture: Mixture = {}
    for items, probability in listed:
        mixture[items] = mixture.get(items, 0.0) + probability
    return mixture


def lists_shown(
    source: object, columns: Columns | None = None, *, at: str | None = None, **options: Unpack[LogOptions]
) -> Mixture:
    """Return how often a log shows each list, as a mixture.

    Parameters
    ----------
    source, columns, options
        The log, as `slotwise.logs.fit_placements` takes it.
    at
        A placement of the log; None if it has no placements.

    Returns
    -------
    dict of tuple to float
        Lists with their shares, which sum to 1; None in a list is an empty slot.

    Examples
    --------
    >>> import pyarrow as pa
    >>> log = {"items": [["tea", "milk"], ["milk", "tea"], ["tea", "milk"], ["tea"]], "clicked": ["tea"] + [None] * 3}
    >>> lists_shown(pa.table(log))
    {('milk', 'tea'): 0.25, ('tea', None): 0.25, ('tea', 'milk'): 0.5}
    >>> lists_shown(pa.table({"items": [["tea", "milk"]]}))
    {('tea', 'milk'): 1.0}
    """
    given = LogSource.of(source, columns, **options)
    # only the lists are read: neither their propensities nor their clicks
    columns = replace(given.columns, propensity=None, item_propensity=None, order=None)
    try:
        with (
            LogSource.of(given, columns, clicks=None).open() as (table, _),
            cleaned(without_clicks(table, columns), columns) as log,
        ):
            counted = tally_by_placement(log)
            if at not in counted:
                raise InvalidInput(f"at must be a placement of the log, got {at!r}")
            impressions, _ = impressions_by_placement(log, counted, None)
    except InvalidInput as problem:
        raise InvalidInput(f"{given.name}: {problem}") from None
    ids, rankings = counted[at].item_ids, impressions[at].rankings
    names = [tuple(None if item == EMPTY else ids[item] for item in shown) for shown in rankings.shown]
    shares = (rankings.times / rankings.rounds).tolist()
    return dict(sorted(zip(names, shares, strict=True), key=lambda entry: [str(name or "") for name in entry[0]]))
