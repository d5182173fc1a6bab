"""Self-contained HTML pages from templates.

A template is a file of this package, known by its path in it, such as `logs/reporting/report.html`. It extends
`core/html_page/base.html`, and takes tables, lists and figures from `core/html_page/parts.html`.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.core.errors import MissingExtra
from slotwise.core.io import replacing

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
