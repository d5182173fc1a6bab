"""The notebooks run: their code cells in order, smaller, each notebook in a Python of its own without the compiler."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
#: in place of the sizes that a notebook begins with
SMALL = {"ROUNDS": "20", "REPLICATIONS": "2", "IMPRESSIONS": "3_000"}
#: what a notebook writes as !slotwise …
COMMAND = """
def run_command(line):
    import shlex, subprocess, sys
    from pathlib import Path
    _, *arguments = shlex.split(line)
    subprocess.run([Path(sys.executable).with_name("slotwise"), *arguments], check=True)
"""


def _script(notebook: Path) -> str:
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    stored = [output["output_type"] for cell in cells for output in cell["outputs"]]
    assert set(stored) >= {"stream"}, "run `python -m docs.tools notebooks`"
    assert "error" not in stored
    text = "\n".join("".join(cell["source"]) for cell in cells)
    names, sizes = re.findall(r"^([A-Z, ]+) = ([\d_, ]+)$", text, re.MULTILINE)[0]
    small = ", ".join(SMALL[name] for name in names.split(", "))
    text = text.replace(f"{names} = {sizes}", f"{names} = {small}")
    return COMMAND + re.sub(r"^!(slotwise .*)$", r'run_command("\1")', text, flags=re.MULTILINE)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[notebook.stem for notebook in NOTEBOOKS])
def test_it_runs(notebook: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    script = _script(notebook)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2_000:]
    wanted = {
        "paper_figure": "Epoch-UCB-W",
        "your_own_policy": "| `epsilon-greedy` |",
        "from_a_log": "PositionBased with slots",
    }
    assert wanted[notebook.stem] in done.stdout
