"""Pages: what goes into a template stays text, and nothing is looked for outside the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jinja2
import pytest

from slotwise.core import html_page
from slotwise.core.html_page import render, write_page


def test_values_of_any_content_are_escaped() -> None:
    shown = render("core/html_page/base.html", title="<script>1 & 2</script>, 3 %")
    assert "<title>&lt;script&gt;1 &amp; 2&lt;/script&gt;, 3&nbsp;%</title>" in shown


def test_parts() -> None:
    parts = html_page._templates().get_template("core/html_page/parts.html").module
    table = parts.table(["slot", "#clicks"], [["1 & 2", "30"], ["3", ["4", "<"]]], "Clicks")  # type: ignore[attr-defined]
    assert table == (
        '<div class="wide" tabindex="0" role="group" aria-label="Clicks"><table><thead><tr><th scope="col">slot</th>'
        '<th scope="col" class="n">clicks</th></tr></thead><tbody><tr><th scope="row">1 &amp; 2</th>'
        '<td class="n">30</td></tr><tr><th scope="row">3</th><td class="n">4&emsp; &lt;</td></tr></tbody></table></div>'
    )
    assert parts.bullets(["5 %", "<"]) == "<ul><li>5&nbsp;%</li><li>&lt;</li></ul>"  # type: ignore[attr-defined]


def test_a_value_that_is_missing_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(jinja2.UndefinedError, match="title"):
        write_page(tmp_path / "page.html", "core/html_page/base.html")
    assert list(tmp_path.iterdir()) == []


def test_without_jinja_the_error_names_the_package_to_install() -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None; from slotwise.core.html_page import render; "
        "render('core/html_page/base.html')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "a page needs packages that are not installed: pip install 'slotwise[plot]'" in done.stderr
