"""Colours, figures without a screen, and reproducible image files."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.core.errors import MissingExtra
from slotwise.core.io import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's palette, with violet in place of yellow, which is too pale for a line on white
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D3A9B", "#000000")
#: each colour of the palette on a dark page
DARK_COLOURS = dict(
    zip(
        map(str.lower, PALETTE),
        ("#4fa8e0", "#f08a4b", "#3ecfa4", "#e5a3c8", "#e69f00", "#8fd0f5", "#b39ae0", "#e6e8eb"),
        strict=True,
    )
)
FORMATS = ("png", "svg", "pdf")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a plot", "plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def bare(axes: Axes) -> None:
    """Hide the upper and the right spine."""
    axes.spines[["top", "right"]].set_visible(False)


def save(drawn: Figure, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> None:
    """Write a figure in these formats; the same figure gives the same bytes. An SVG has a transparent background.

    Letters that the default font lacks are taken from another font of this machine. If no font has them, an SVG holds
    its text as text, and the browser draws it with its own fonts.
    """
    import matplotlib as mpl

    missing, layout = _lend_letters(drawn), drawn.get_layout_engine()
    with (
        mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none" if missing else "path"}),
        # a figure without a layout engine, as after its first format, would get one from these settings
        mpl.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}),
        _ignore_missing_glyphs(),
    ):
        try:
            for kind in formats:
                stamp = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
                with replacing(folder / f"{name}.{kind}") as file:
                    drawn.savefig(file, format=kind, dpi=160, metadata=stamp, transparent=kind == "svg")
                # the layout is computed once: it takes as long as drawing; with "none" for None, matplotlib would still
                # draw everything twice
                drawn.set_layout_engine(None)
        finally:
            drawn.set_layout_engine(layout)


def as_address(picture: Path) -> str:
    """Return an SVG file of `save` as a data URL, with colours for a light and for a dark page."""
    text = picture.read_text(encoding="utf-8")
    for colour in DARK_COLOURS:
        text = text.replace(colour, f"var(--{colour[1:]})")
    light, dark = (
        "".join(f"--{name[1:]}:{value};" for name, value in colours)
        for colours in (zip(DARK_COLOURS, DARK_COLOURS, strict=True), DARK_COLOURS.items())
    )
    # letters have no colour of their own: matplotlib leaves out black
    rules = f"svg{{{light}fill:var(--000000)}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
    text = text.replace("</style>", f"{rules}</style>", 1)
    return f"data:image/svg+xml;base64,{base64.b64encode(text.encode()).decode()}"


@contextmanager
def _ignore_missing_glyphs() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _lend_letters(drawn: Figure) -> set[str]:
    """Add fonts for letters that the default font lacks to each text; return the letters that no font has."""
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.text import Text

    usual, unknown = findfont(FontProperties()), set[str]()
    for text in drawn.findobj(Text):
        assert isinstance(text, Text)
        lacking = _lacking(usual, frozenset(text.get_text()))
        if lacking:
            families, left = _fonts_with(lacking)
            text.set_fontfamily([*text.get_fontfamily(), *families])
            unknown |= left
    return unknown


@lru_cache(maxsize=4096)
def _lacking(font: str, letters: frozenset[str]) -> frozenset[str]:
    from matplotlib.font_manager import get_font

    glyphs = get_font(font)
    return frozenset(letter for letter in letters if letter.isprintable() and not glyphs.get_char_index(ord(letter)))


@lru_cache(maxsize=1024)
def _fonts_with(letters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return font families that together have these letters, and the letters that no font has."""
    from matplotlib.font_manager import fontManager

    families: list[str] = []
    for font in fontManager.ttflist:
        # the font of last resort has a box for everything
        if not letters or font.name.startswith("Last Resort"):
            continue
        left = _lacking(font.fname, letters)
        if left < letters:
            families.append(font.name)
            letters = left
    return tuple(families), letters
