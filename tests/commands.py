"""The command line: as a process of its own, or in this one, which has imported and compiled already."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from slotwise.cli import main

COMMAND = Path(sys.executable).with_name("slotwise")


def slotwise(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What `slotwise` prints, says on stderr and ends with, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["slotwise", *arguments]),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code: object = None
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    assert code is None or isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code or 0, out.getvalue(), err.getvalue())
