"""How many impressions a placement has, of each kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class PageCounts:
    """Impressions of a placement: found in the log; with a click; counted; counted without one; with several clicks."""

    impressions: int = 0
    clicked: int = 0
    counted: int = 0
    no_click: int = 0
    multi_click: int = 0
