"""Compare slotwise with other tools, and write the numbers into a file."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
from pathlib import Path

from benchmarks.peers.comparisons import POLICY, compare_fits, compare_simulations
from benchmarks.peers.service_comparison import compare_services


def main() -> None:
    """Run all comparisons one after the other, so that their ratios are of one run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/data/peers.json"))
    parser.add_argument("--rounds", type=int, default=5_000)
    parser.add_argument("--replications", type=int, default=5)
    parser.add_argument("--views", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each turn of a service")
    arguments = parser.parse_args()
    # one core for everybody
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    found = {
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "policy": POLICY,
        # tells later whether the policy has changed since
        "regret": json.loads(Path("tests/snapshots/regret.json").read_text())[POLICY],
        "load": round(os.getloadavg()[0], 1),
        "rounds": arguments.rounds,
        "replications": arguments.replications,
        "views": arguments.views,
        "simulation": compare_simulations(arguments.rounds, arguments.replications, print),
        "fitting": compare_fits(arguments.views, print),
        "seconds": arguments.seconds,
        "services": compare_services(arguments.seconds, print),
    }
    arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    print(arguments.out)


if __name__ == "__main__":
    main()
