"""What is tried of an installed wheel, by the extra that it was installed with."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from release.programs import ReleaseFault, environment, run

#: longest wait for a program to answer over HTTP; a first start may download packages
MAX_WAIT = 300.0
RANKER = """
from slotwise import Ranker
ranker = Ranker(["a", "b", "c"], slots=2, seed=1)
for _ in range(20):
    shown = ranker.rank()
    ranker.observe(shown, clicked=shown.items[0])
assert len(ranker.rank().items) == 2
"""
SIMULATION = """
from slotwise import MNL, simulate
results = simulate(MNL(position_bias=[1.0, 0.5], attractiveness=[0.1, 0.4, 0.2]), "epoch-ucb", rounds=100, jobs=1)
"""
REGRET = """
from slotwise import MNL, simulate
users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.1, 0.4, 0.2])
print(simulate(users, "epoch-ucb", rounds=5_000, seed=3, jobs=1)["epoch-ucb"].regret.sum().hex())
"""
PLAIN = {"NUMBA_DISABLE_JIT": "1"}


class Installed(Protocol):
    """An environment with the wheel in it."""

    bin: Path

    def python(self, script: str, folder: Path, **variables: str) -> str:
        """Run a script in a folder, and return what it prints."""


def _core(installed: Installed, folder: Path) -> str:
    installed.python(RANKER + SIMULATION, folder, **PLAIN)
    try:
        run([installed.bin / "slotwise", "demo"], folder)
    except ReleaseFault as refused:
        if "pip install 'slotwise[cli]'" in str(refused):
            return "a ranker and a simulation run, the command names its extra"
        raise
    raise ReleaseFault("`slotwise demo` runs without the packages of its extra")


def _cli(installed: Installed, folder: Path) -> str:
    listed = re.findall(
        r"^  (\w+) ", run([installed.bin / "slotwise", "--help"], folder).partition("Commands:")[2], re.M
    )
    if listed[:3] != ["demo", "serve", "fit"]:
        raise ReleaseFault(f"the help lists {listed[:3]} first, not demo, serve, fit")
    simulated = ["simulate", "--problem", "a", "--policy", "epoch-ucb", "--rounds", "200", "--replications", "2"]
    run([installed.bin / "slotwise", *simulated], folder, **PLAIN)
    return "the command line lists its commands and simulates"


def _plot(installed: Installed, folder: Path) -> str:
    installed.python(f"{SIMULATION}\nresults.plot().savefig('regret.svg')", folder, **PLAIN)
    return f"a figure of {(folder / 'regret.svg').stat().st_size:,} bytes"


def _frames(installed: Installed, folder: Path) -> str:
    rows = installed.python(f"{SIMULATION}\nprint(len(results.to_frame()))", folder, **PLAIN)
    return f"a data frame of {rows.strip()} rows"


def _parquet(installed: Installed, folder: Path) -> str:
    installed.python(f"{SIMULATION}\nresults.to_parquet('results.parquet')", folder, **PLAIN)
    return f"a Parquet file of {(folder / 'results.parquet').stat().st_size:,} bytes"


def _write_log(folder: Path) -> Path:
    """A click log of 400 impressions in two orders."""
    lines = ["impression,slot,item,clicked"]
    for view in range(400):
        order = "abc" if view % 2 else "bca"
        clicked = view % 4
        lines += [f"{view},{slot},{item},{int(slot == clicked)}" for slot, item in enumerate(order, start=1)]
    path = folder / "clicks.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def _logs(installed: Installed, folder: Path) -> str:
    said = run([installed.bin / "slotwise", "fit", _write_log(folder), "--json"], folder, **PLAIN)
    if not isinstance(json.loads(said), dict):
        raise ReleaseFault(f"slotwise fit --json prints {said[:200]}")
    return "a log is fitted"


def _spark(installed: Installed, folder: Path) -> str:
    if subprocess.run(["java", "-version"], capture_output=True, check=False).returncode:
        installed.python("import pyspark, slotwise.logs", folder, **PLAIN)
        return "imported only: there is no Java on this machine"
    run([installed.bin / "slotwise", "fit", _write_log(folder), "--engine", "spark", "--json"], folder, **PLAIN)
    return "a log is fitted on Spark"


def _serve(installed: Installed, folder: Path) -> str:
    return demo_answers([str(installed.bin / "slotwise"), "demo"], folder, PLAIN)


PROBES: dict[str, Callable[[Installed, Path], str]] = {
    "": _core,
    "cli": _cli,
    "plot": _plot,
    "frames": _frames,
    "parquet": _parquet,
    "logs": _logs,
    "spark": _spark,
    "serve": _serve,
}


def compiled_regret(installed: Installed, folder: Path) -> str:
    """The regret of a seeded simulation with compiled kernels, to the last bit."""
    return installed.python(REGRET, folder, NUMBA_CACHE_DIR=str(folder / "kernels")).strip()


def demo_answers(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> str:
    """Start the demo, wait until its page answers, and stop it; says how long that took."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.monotonic()
    log = folder / "demo.log"
    with open(log, "w") as output:
        demo = subprocess.Popen(
            [*command, "--no-browser", "--port", str(port)],
            cwd=folder,
            env=environment(variables),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        while not _answers(f"http://127.0.0.1:{port}/"):
            if demo.poll() is not None or time.monotonic() - start > MAX_WAIT:
                raise ReleaseFault(f"{' '.join(command)} does not answer:\n{log.read_text()}")
            time.sleep(0.2)
        seconds = time.monotonic() - start
    finally:
        demo.send_signal(signal.SIGINT)
        try:
            demo.wait(30)
        except subprocess.TimeoutExpired:
            demo.kill()
            demo.wait()
    return f"the page of the demo answers after {seconds:.0f} s"


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
