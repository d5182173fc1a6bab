"""The generated reference is that of the code, and measured numbers are those of the default policy as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from docs.tools import reference
from docs.tools.reference import BLOCKS, generated_files, write_reference
from docs.tools.reference.result_tables import DATA
from slotwise.cli.command_app import COMMANDS
from slotwise.policies import default_policy
from slotwise.service.schemas.definition import PlacementDefinition

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return {page.relative_to(ROOT).as_posix(): text for page, text in generated_files()}


def test_every_generated_page_is_up_to_date() -> None:
    """In a process of its own: other tests register policies and estimators of research."""
    check = [sys.executable, "-m", "docs.tools", "reference", "--check"]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, []), "run `python -m docs.tools reference`" + done.stderr


def test_every_block_is_on_a_page(files: dict[str, str]) -> None:
    pages = "".join(files.values())
    assert [name for name in BLOCKS if f"<!-- generated: {name} -->" not in pages] == []


def test_every_field_of_a_placement_is_in_the_table(files: dict[str, str]) -> None:
    page = files["docs/reference/placement-fields.md"]
    assert [field for field in PlacementDefinition.model_fields if f"| `{field}` |" not in page] == []


def test_every_command_is_in_the_reference(files: dict[str, str]) -> None:
    page = files["docs/reference/command-line.md"]
    assert [command for command in COMMANDS if f"\n## slotwise {command}\n" not in page] == []


def test_a_stale_page_is_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("before\n<!-- generated: window-fields -->\nold\n<!-- end -->\nafter\n")
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    monkeypatch.setattr(reference, "OPENAPI", tmp_path / "openapi.json")
    assert write_reference() == [page, tmp_path / "openapi.json"]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "`at_most`" in text
    assert "old" not in text
    assert write_reference() == []


@pytest.mark.parametrize("file", sorted(DATA.glob("*.json")), ids=lambda file: file.name)
def test_measured_numbers_are_of_the_default_policy(file: Path) -> None:
    """The regret of the default in tests/snapshots tells whether the policy has changed since the measurement."""
    snapshot = json.loads((ROOT / "tests" / "snapshots" / "regret.json").read_text())
    found = json.loads(file.read_text())
    now = {"policy": str(default_policy()), "regret": snapshot[str(default_policy())]}
    measured = {key: found[key] for key in now}
    assert measured == now, (
        f"{file.name} is stale: run `python -m research alternatives --out docs/data`, `make peers` or "
        "`python -m benchmarks.sizing --out docs/data`"
    )
