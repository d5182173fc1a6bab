"""The style linter finds what it should, and nothing on the pages and in the texts of the programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.tools.prose import faults_of, interface_faults, page_faults, prose, ui_texts


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Of all items two are left.", "begins with Of"),
        ("Where it rains it pours.", "begins with Where"),
        ("Crowds of visitors differ.", 'write "segment"'),
        ("The interval holds the truth.", 'write "covers"'),
        ("This is " + "very " * 25 + "long.", "28 words, at most 25"),
    ],
)
def test_a_fault_is_found(text: str, rule: str) -> None:
    assert [fault.rule for fault in faults_of("page", text)] == [rule]


def test_questions_code_and_tables_are_no_faults() -> None:
    page = "What is it?\n\n```python\nof_which = 1\n```\n\n| in place of | x |\n\n    slotwise crowd\n\nA list."
    assert list(faults_of("page", prose(page))) == []


def test_texts_of_scripts_and_templates_are_read(tmp_path: Path) -> None:
    script, template = tmp_path / "a.js", tmp_path / "a.html"
    script.write_text('// "no text of this"\nfoo("a crowd of visitors", `N is ${n} of crowd`);')
    template.write_text("<p>Have a look at it</p><script>var crowd = 'x y z'</script>")
    assert [*ui_texts(script)] == ["a crowd of visitors", "N is N of crowd"]
    assert [*ui_texts(template)] == ["Have a look at it"]


def test_the_pages_have_no_fault() -> None:
    assert [str(fault) for fault in page_faults()] == []


def test_the_texts_of_programs_have_no_fault() -> None:
    assert [str(fault) for fault in interface_faults()] == []
