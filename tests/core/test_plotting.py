from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import matplotlib.font_manager
import pytest
from matplotlib.figure import Figure

from slotwise.core import plotting


def test_letters_that_no_font_has_are_text_in_an_svg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a browser to draw; a figure whose letters are all known holds their outlines instead."""
    fonts = matplotlib.font_manager.fontManager
    monkeypatch.setattr(fonts, "ttflist", [font for font in fonts.ttflist if font.name.startswith("DejaVu")])
    plotting._fonts_with.cache_clear()
    for name, label in (("known", "tea"), ("unknown", "日本茶")):
        drawn = plotting.new_figure(4, 2)
        drawn.subplots().set_yticks([0.0], [label])
        plotting.save(drawn, tmp_path, name, ("png", "svg"))
    plotting._fonts_with.cache_clear()
    # where letters are drawn as outlines, they are in a remark too
    assert ">日本茶</text>" in (tmp_path / "unknown.svg").read_text(encoding="utf-8")
    assert ">tea</text>" not in (tmp_path / "known.svg").read_text(encoding="utf-8")


def test_letters_are_lent_by_another_font() -> None:
    """The usual font lacks a script capital, which one that comes with matplotlib has."""
    drawn = plotting.new_figure(4, 2)
    text = drawn.subplots().set_title("\N{MATHEMATICAL SCRIPT CAPITAL A}")
    assert plotting._lend_letters(drawn) == set()
    assert len(text.get_fontfamily()) > 1


def test_a_figure_is_laid_out_once_and_drawn_once_in_each_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And can be laid out again when it has changed."""
    times, draw = [0], Figure.draw

    def counted(drawn: Figure, renderer: Any) -> None:
        times[0] += 1
        draw(drawn, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    drawn = plotting.new_figure(4, 2)
    drawn.subplots().set_title("tea")
    layout = drawn.get_layout_engine()
    plotting.save(drawn, tmp_path, "tea", ("png", "svg", "pdf"))
    assert times == [1 + 3]
    assert drawn.get_layout_engine() is layout


def test_a_picture_is_held_by_its_address(tmp_path: Path) -> None:
    (tmp_path / "x.svg").write_text("<svg/>")
    assert plotting.as_address(tmp_path / "x.svg") == "data:image/svg+xml;base64,PHN2Zy8+"


def test_a_picture_has_colours_for_a_light_and_for_a_dark_page(tmp_path: Path) -> None:
    (tmp_path / "x.svg").write_text('<svg><style>*{}</style><path style="stroke: #0072b2"/></svg>')
    text = base64.b64decode(plotting.as_address(tmp_path / "x.svg").partition(",")[2]).decode()
    assert 'style="stroke: var(--0072b2)"' in text
    light, _, dark = text.partition("@media(prefers-color-scheme:dark)")
    assert "--0072b2:#0072b2;" in light
    assert f"--0072b2:{plotting.DARK_COLOURS['#0072b2']};" in dark
