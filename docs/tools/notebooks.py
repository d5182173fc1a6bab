"""Run the notebooks in `docs/notebooks` and store their outputs, so that readers see them without running anything."""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docs.tools.site import ROOT

NOTEBOOKS = ROOT / "docs" / "notebooks"


def run_notebooks() -> list[Path]:
    """Run every notebook in a process of its own, and write its outputs into it."""
    notebooks = sorted(NOTEBOOKS.glob("*.ipynb"))
    for notebook in notebooks:
        subprocess.run([sys.executable, "-m", "docs.tools.notebooks", str(notebook)], cwd=ROOT, check=True)
    return notebooks


def with_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    r"""The notebook with the outputs of its code cells, run in order in an empty folder.

    >>> cell = {"cell_type": "code", "source": ["print(1)\n", "2"], "outputs": []}
    >>> [output["output_type"] for output in with_outputs({"cells": [cell]})["cells"][0]["outputs"]]
    ['stream', 'execute_result']
    """
    names: dict[str, Any] = {}
    cells, number, here = [], 0, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    number += 1
                    outputs = _run("".join(cell["source"]), names, number)
                    cell = {**cell, "execution_count": number, "outputs": outputs}
                cells.append(cell)
        finally:
            os.chdir(here)
    return {**notebook, "cells": cells}


def _run(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    shown, value = io.StringIO(), None
    if source.startswith("!"):
        _, *arguments = shlex.split(source)
        command = [str(Path(sys.executable).with_name("slotwise")), *arguments]
        shown.write(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    else:
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(shown):
            exec(compile(tree, "notebook", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
    # a path of this machine is no result
    text = re.sub(r"/tmp/\w+/", "", shown.getvalue())
    outputs: list[dict[str, Any]] = []
    if text:
        outputs.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        data = {"data": _data(value), "metadata": {}, "output_type": "execute_result", "execution_count": number}
        outputs.append(data)
    return outputs


def _data(value: Any) -> dict[str, Any]:
    if not hasattr(value, "savefig"):
        return {"text/plain": [repr(value)]}
    picture = io.BytesIO()
    value.savefig(picture, format="png", dpi=80)
    return {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": ["<Figure>"]}


if __name__ == "__main__":
    path = Path(sys.argv[1]).resolve()
    found = with_outputs(json.loads(path.read_text()))
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
