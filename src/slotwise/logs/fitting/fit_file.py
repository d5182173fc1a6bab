"""A fit as a JSON file with enough to predict another log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from slotwise.core.errors import UnreadableFile
from slotwise.core.io import replacing
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.logs.fitting.fit_result import Fit

FORMAT = "slotwise fit 1"


@dataclass(frozen=True, eq=False)
class StoredFit:
    """The predictions of a fit for one placement: odds for every slot and item, and for unseen items."""

    placement: str | None
    impressions: int
    item_ids: tuple[str, ...]
    attractiveness: FloatArray
    position_bias: FloatArray
    #: the attractiveness of an item that was never seen
    unseen: float
    #: what simple models make of the same log: odds by slot, by item, and the same for all
    slot_odds: FloatArray
    item_odds: FloatArray
    common_odds: float
    #: by name, its segments
    segments: Mapping[str, StoredFit] = field(default_factory=dict)

    @classmethod
    def of(cls, fit: Fit) -> StoredFit:
        """Return the part of a fit that is stored."""
        alpha, bias = fit.odds_factors()
        by_slot, by_item, common = simple_odds(fit.tally)
        return cls(
            fit.placement,
            fit.impressions,
            fit.item_ids,
            alpha,
            bias,
            fit.unseen_attractiveness,
            by_slot,
            by_item,
            common,
            {name: cls.of(segment) for name, segment in fit.segments.items()},
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of every item."""
        return {id: number for number, id in enumerate(self.item_ids)}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {
            "placement": self.placement,
            "impressions": self.impressions,
            "position_bias": self.position_bias.tolist(),
            "items": dict(zip(self.item_ids, self.attractiveness.tolist(), strict=True)),
            "unseen": self.unseen,
            "simple": {"slots": self.slot_odds.tolist(), "items": self.item_odds.tolist(), "alike": self.common_odds},
            **(
                {"segments": {name: segment.to_dict() for name, segment in self.segments.items()}}
                if self.segments
                else {}
            ),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> StoredFit:
        """Return the fit of a dictionary from `to_dict`."""
        simple = content["simple"]
        return cls(
            content["placement"],
            int(content["impressions"]),
            tuple(content["items"]),
            np.array(list(content["items"].values()), np.float64),
            np.array(content["position_bias"], np.float64),
            float(content["unseen"]),
            np.array(simple["slots"], np.float64),
            np.array(simple["items"], np.float64),
            float(simple["alike"]),
            {name: cls.from_dict(segment) for name, segment in content.get("segments", {}).items()},
        )


def simple_odds(tally: Tally) -> tuple[FloatArray, FloatArray, float]:
    """γ by slot if items are alike, by item if slots are, and if all are: clicks per pass, with one click at the mean.

    >>> by_slot, by_item, common = simple_odds(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
    >>> by_slot.round(2), by_item.round(2), round(common, 2)
    (array([0.42, 0.29]), array([0.38, 0.33]), 0.36)
    """
    clicks, passes = tally.clicks, tally.passes
    common = (float(clicks.sum()) + 0.5) / (float(passes.sum()) + 0.5)
    by_slot, by_item = ((clicks.sum(axis=axis) + 1.0) / (passes.sum(axis=axis) + 1.0 / common) for axis in (1, 0))
    return by_slot, by_item, common


def save_fits(fits: Iterable[Fit], path: str | os.PathLike[str]) -> None:
    """Write fits to a file; an existing file survives a failure.

    Parameters
    ----------
    fits
        Fits, one for each placement.
    path
        The path of the JSON file.
    """
    every = [StoredFit.of(fit).to_dict() for fit in fits]
    with replacing(path) as file:
        file.write(json.dumps({"format": FORMAT, "placements": every}, allow_nan=False).encode())


def load_fits(path: str | os.PathLike[str]) -> list[StoredFit]:
    """Read the fits in a file of `save_fits`.

    Parameters
    ----------
    path
        The path of the file.

    Returns
    -------
    list of StoredFit
        A fit for each placement.

    Raises
    ------
    UnreadableFile
        If the file is missing, damaged or not a fit.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = json.load(file)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise UnreadableFile(f"{name} is not a fit: `slotwise fit … --save FILE` writes one")
        return [StoredFit.from_dict(placement) for placement in content["placements"]]
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {name}") from None
    except UnreadableFile:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UnreadableFile(f"{name} is damaged or not a fit ({problem})") from problem
