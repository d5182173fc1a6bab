"""`python -m tests.service.simulation`: histories of many seeds, or one seed with all that happens in it."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable

from tests.service.simulation.deliberate_faults import FAULTS, broken
from tests.service.simulation.run import Failure, simulate


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.service.simulation")
    parser.add_argument("--seed", type=int, help="one history, with all that happens")
    parser.add_argument("--seeds", type=int, default=500, help="the number of histories")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end after so much processor time")
    parser.add_argument("--faults", action="store_true", help="put faults in, and count the seeds that find each")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    if options.seed is not None:
        history = simulate(options.seed)
        print("\n".join(history.trace))
        return isinstance(history, Failure)
    return _find_faults(seeds) if options.faults else _run(seeds, options.minutes * 60.0)


def _run(seeds: Iterable[int], at_most: float) -> int:
    failures, done, began = list[Failure](), 0, time.process_time()
    for seed in seeds:
        history = simulate(seed)
        done += 1
        if isinstance(history, Failure):
            failures.append(history)
            print(f"seed {seed}: {history.what}", flush=True)
        spent = time.process_time() - began
        if done % 1000 == 0:
            print(f"{done} histories, {len(failures)} failures, {spent:.0f} s of processor time", flush=True)
        if spent > at_most:
            break
    print(f"{done} histories, {len(failures)} failures, {time.process_time() - began:.1f} s of processor time")
    if failures:
        print(f"again: make simulate SEED={failures[0].seed}")
    return bool(failures)


def _find_faults(seeds: range) -> int:
    """A table of the faults put in on purpose."""
    missed = 0
    print("| fault | seeds that find it | the first | found as |\n| --- | --- | --- | --- |")
    for fault in FAULTS:
        with broken(fault):
            found = [history for seed in seeds if isinstance(history := simulate(seed), Failure)]
        missed += not found
        ways = Counter(history.what.partition(" · ")[0].removeprefix("Violation: ")[:60] for history in found)
        common = "; ".join(way for way, _ in ways.most_common(2))
        first = found[0].seed if found else "none"
        print(f"| {fault.what} | {len(found)} of {len(seeds)} | {first} | {common} |", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
