"""What all figures share: colours, an empty figure that needs no screen, and how a figure is written to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.errors import MissingExtra
from slotwise.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's palette, with violet in place of yellow, which is too pale for a line on white
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D3A9B", "#000000")
FORMATS = ("png", "svg", "pdf")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a plot", "plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def bare(axes: Axes) -> None:
    """Leave out what carries no information."""
    axes.spines[["top", "right"]].set_visible(False)


def save(drawn: Figure, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> None:
    """Write a figure in these formats; the same figure gives the same bytes."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        for kind in formats:
            stamp = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
            with replacing(folder / f"{name}.{kind}") as file:
                drawn.savefig(file, format=kind, dpi=160, metadata=stamp)
