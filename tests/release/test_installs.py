from __future__ import annotations

from pathlib import Path

from release.installs import SELECTION, extras, requirement
from release.probes import PROBES
from release.versions import ROOT


def test_every_extra_is_tried_by_itself() -> None:
    assert {*PROBES} == {"", *extras()}


def test_the_selected_tests_exist() -> None:
    assert all((ROOT / path).exists() for path in SELECTION)


def test_a_built_file_is_a_requirement() -> None:
    built = Path("/dist/slotwise-1.0.0-py3-none-any.whl")
    assert requirement(built) == "slotwise @ file:///dist/slotwise-1.0.0-py3-none-any.whl"
    assert requirement(built, "cli,serve").startswith("slotwise[cli,serve] @ file:")
