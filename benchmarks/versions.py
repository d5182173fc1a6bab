"""`python -m benchmarks.versions FOLDER`: this checkout beside an earlier one, by turns, in processor time.

FOLDER is a checkout with an environment of its own: `git worktree add FOLDER REVISION`, then `make ready` there. Both
names of a renamed policy are given as in `--policy thompson-sampling=posterior-sampling`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.service import answers, decision_seconds, processor_seconds, put, service, verdict

HERE = Path(__file__).parents[1]
TURNS = 5
ROUNDS = 2_000_000
#: the least speed, relative to the other
WANTED = 0.95

#: problem (a) of the paper, by names that every version has
SIMULATE = """
import sys, time
from slotwise import MNL, simulate
bias, attractiveness = ([float(number) for number in text.split(",")] for text in sys.argv[3:5])
users = MNL(position_bias=bias, attractiveness=attractiveness)
simulate(users, sys.argv[1], rounds=1_000, jobs=1)
began = time.process_time()
simulate(users, sys.argv[1], rounds=int(sys.argv[2]), replications=1, jobs=1)
print(time.process_time() - began)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure this checkout beside an earlier one.")
    parser.add_argument("folder", type=Path, help="a checkout with a .venv")
    parser.add_argument("--policy", action="append", metavar="NEW[=OLD]", help="a policy's id here, and its id there")
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args()
    pairs = [text.partition("=") for text in options.policy or ["thompson-sampling", "epoch-ucb"]]
    policies = [(new, old or new) for new, _, old in pairs]
    for new, old in policies:
        compare(f"simulated rounds of {new}", partial(simulated, new), partial(simulated, old), options)
    new, old = policies[0]
    compare("durable decisions", partial(decided, new), partial(decided, old), options)
    compare("starts of the service", started, started, options)


def compare(
    what: str, here: Callable[[Path], float], there: Callable[[Path], float], options: argparse.Namespace
) -> None:
    """Print the processor time of one on either side, and the median of the ratios of the turns."""
    turns = [(here(HERE), there(options.folder)) for _ in range(options.turns)]
    for side, seconds in zip(("here", "there"), zip(*turns, strict=True), strict=True):
        print(f"{what}, {side}: {', '.join(f'{second * 1e6:.4g}' for second in seconds)} µs of processor time")
    verdict(f"{what}: speed here / there", statistics.median(old / new for new, old in turns), WANTED)


def simulated(policy: str, folder: Path) -> float:
    """Return the processor seconds of a round."""
    from slotwise.environments import paper_problems

    users = paper_problems()["a"].users
    numbers = [",".join(map(str, values.tolist())) for values in (users.position_bias, users.attractiveness)]
    command = [str(python(folder)), "-c", SIMULATE, policy, str(ROUNDS), *numbers]
    return float(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout) / ROUNDS


def decided(policy: str, folder: Path) -> float:
    """Return the processor seconds of a decision that is committed before it is answered."""
    with tempfile.TemporaryDirectory() as store, service(Path(store), python(folder)) as (port, process):
        while not answers(port, "/readyz"):
            time.sleep(0.01)
        put(port, "bench", 20, policy=policy)
        return decision_seconds(port, process)


def started(folder: Path) -> float:
    """Return the processor seconds until the service is ready."""
    with tempfile.TemporaryDirectory() as store, service(Path(store), python(folder)) as (port, process):
        while not answers(port, "/readyz"):
            time.sleep(0.01)
        return processor_seconds(process)


def python(folder: Path) -> Path:
    return folder.resolve() / ".venv" / "bin" / "python"


if __name__ == "__main__":
    main()
