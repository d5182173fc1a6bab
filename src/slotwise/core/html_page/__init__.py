"""Self-contained HTML pages from templates.

A template is a file of this package, known by its path in it, such as `logs/reporting/report.html`. It extends
`core/html_page/base.html`, and takes tables, lists and figures from `core/html_page/parts.html`.
"""

from __future__ import annotations

import base64
import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.core.errors import MissingExtra
from slotwise.core.io import replacing
from slotwise.core.plotting import DARK_COLOURS

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, /, **values: Any) -> str:
    """Return a template filled in; values are escaped.

    >>> "<title>1 &lt; 2</title>" in render("core/html_page/base.html", title="1 < 2")
    True
    """
    return _templates().get_template(template).render(**values)


def write_page(path: Path, template: str, /, **values: Any) -> None:
    """Write a template, filled in, to a file."""
    with replacing(path) as file:
        file.write(render(template, **values).encode())


def as_address(picture: Path) -> str:
    """Return an SVG file of `plotting.save` as a data URL, with colours for a light and for a dark page."""
    text = picture.read_text()
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


@functools.cache
def _templates() -> Environment:
    try:
        import jinja2
        from markupsafe import Markup, escape
    except ImportError:
        raise MissingExtra("a page", "plot") from None

    def with_unit(value: object) -> object:
        # a number and its unit, and a place of a list and its item, stay on one line; three blanks are between places
        if isinstance(value, str) and not isinstance(value, Markup):
            text = re.sub(r"(\b\d{1,2}\.) (?=\S)", r"\1&nbsp;", str(escape(value)))
            return Markup(text.replace(" %", "&nbsp;%").replace("   ", "&emsp; "))
        return value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("slotwise", ""),
        autoescape=True,
        finalize=with_unit,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = "{:,.0f}".format
    return environment
