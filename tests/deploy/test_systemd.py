"""The units in deploy/, judged by systemd itself, and the command of the service's, run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slotwise.service.storage import open_store
from tests.service.process import Process, free_port

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PROGRAM = "/opt/slotwise/bin/slotwise"
#: of 10, as systemd counts what a service could do
MAX_EXPOSED = 2.0

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")


def units(folder: Path) -> list[Path]:
    """Copies that name a program which is there, as systemd looks for it."""
    program = folder / "slotwise"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    copies = []
    for unit in sorted([*DEPLOY.glob("*.service"), *DEPLOY.glob("*.timer")]):
        copies.append(folder / unit.name)
        copies[-1].write_text(unit.read_text().replace(PROGRAM, str(program)))
    return copies


@needs_systemd
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    judged = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, units(tmp_path))],
        capture_output=True,
        text=True,
        check=False,
    )
    about_ours = [line for line in judged.stderr.splitlines() if "slotwise" in line]
    assert (judged.returncode, about_ours) == (0, []), judged.stderr


@needs_systemd
def test_the_service_is_shut_in(tmp_path: Path) -> None:
    unit = next(unit for unit in units(tmp_path) if unit.name == "slotwise.service")
    judged = subprocess.run(
        [
            "systemd-analyze",
            "security",
            "--offline=yes",
            f"--threshold={MAX_EXPOSED * 10:.0f}",
            "--no-pager",
            str(unit),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_the_command_of_the_unit_serves(tmp_path: Path) -> None:
    """With its file of settings and its file of secrets, in a folder of its own."""
    unit = (DEPLOY / "slotwise.service").read_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    program, serve, *arguments = shlex.split(command)
    assert (program, serve) == (PROGRAM, "serve")
    arguments = [argument.replace("/etc/slotwise/serve.toml", str(DEPLOY / "serve.toml")) for argument in arguments]
    assert str(DEPLOY / "serve.toml") in arguments
    process = Process(tmp_path, None, free_port(), arguments=arguments, SLOTWISE_SERVER_KEY="s3cret")
    try:
        process.wait_until_ready()
    finally:
        process.stop()
    # as it should, and not because systemd lost its patience
    assert '"event": "stopped"' in process.log.read_text()
    assert (tmp_path / "slotwise.db").stat().st_mode & 0o077 == 0


def test_the_nightly_jobs_run(tmp_path: Path) -> None:
    """The commands of the unit one after the other, on a store: a copy is made, and only old copies go."""
    wrapper = tmp_path / "slotwise"
    wrapper.write_text(f"""#!/bin/sh\nexec '{sys.executable}' -c 'from slotwise.cli import main; main()' "$@"\n""")
    wrapper.chmod(0o755)
    unit = (DEPLOY / "slotwise-nightly.service").read_text().replace(PROGRAM, str(wrapper))
    (store,) = re.findall(r"^Environment=SLOTWISE_STORE=(.*)$", unit, re.MULTILINE)
    folder = tmp_path / "state"
    folder.mkdir()
    open_store(f"sqlite:///{folder}/slotwise.db").close()
    for name, days in {"backup-old.db": 20, "backup-new.db": 1}.items():
        (folder / name).touch()
        then = time.time() - days * 86_400
        os.utime(folder / name, (then, then))
    commands = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        # as systemd reads it: a doubled sign is a single one
        words = shlex.split(command.replace("%%", "%").replace("$$", "$"))
        ran = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, "SLOTWISE_STORE": store},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    copies = sorted(path.name for path in folder.glob("backup-*"))
    assert [name for name in copies if not re.fullmatch(r"backup-\d{4}-\d\d-\d\dT\d{6}\.db", name)] == ["backup-new.db"]
    assert len(copies) == 2
    open_store(f"sqlite:///{folder / copies[0]}").close()
