"""Columns as a pandas data frame, where pandas is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slotwise.core.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd


def frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A data frame of these columns."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("a data frame", "frames") from None
    return pd.DataFrame(dict(columns))
