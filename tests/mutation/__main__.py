"""`python -m tests.mutation`: mutants of storage, counting, outcomes and tokens, and the tests that notice them.

Each mutant runs in a process that is forked when everything is imported: its code takes the place of the original.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import random
import signal
import sys
import time
import traceback
from typing import Final

import pytest

from tests.mutation.code_swap import swapped
from tests.mutation.mutants import Mutant, mutants
from tests.service.simulation.run import Failure, simulate

_STORAGE: Final = ("tests/service/storage/test_machine.py::test_on_sqlite", "tests/service/storage/test_store.py")
#: the tests of each module, the quick ones first
TESTS: Final[dict[str, tuple[str, ...]]] = {
    "storage.accumulator": ("src/slotwise/service/storage/accumulator.py", *_STORAGE),
    "storage.batch_writer": ("tests/service/storage/test_batch_writer.py",),
    "storage.count_tables": (*_STORAGE, "tests/service/storage/test_periods.py"),
    "storage.decision_log": _STORAGE,
    "storage.idempotency": _STORAGE,
    "storage.outcome_rules": ("src/slotwise/service/storage/outcome_rules.py", *_STORAGE),
    "storage.sql_store": _STORAGE,
    "storage.sticky_lists": _STORAGE,
    "storage.visitor_caps": ("tests/service/storage/test_visitor_caps.py",),
    "decisions.outcome_tokens": (
        "src/slotwise/service/decisions/outcome_tokens.py",
        "tests/service/decisions/test_outcome_tokens.py",
    ),
}
SEEDS: Final = 25
#: seconds after which a mutant that has not ended is killed, and counts as noticed
AT_MOST: Final = 90


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--share", type=float, default=1.0, help="the share of mutants that are tried, at random")
    parser.add_argument("--minutes", type=float, default=30.0, help="end after so many minutes")
    parser.add_argument("modules", nargs="*", default=[*TESTS])
    options = parser.parse_args()
    rng, began = random.Random(1), time.monotonic()
    simulate(0)
    found = [(module, mutant) for module in options.modules for mutant in mutants(_source(module))]
    drawn = rng.sample(found, round(options.share * len(found)))
    noticed = tried = 0
    for module, mutant in drawn:
        if time.monotonic() - began > options.minutes * 60.0:
            break
        tried += 1
        if _is_noticed(module, mutant):
            noticed += 1
        else:
            print(f"survived: {module}:{mutant.line} {mutant.what}", flush=True)
    print(f"{noticed} of {tried} mutants were noticed ({noticed / max(1, tried):.1%}); there are {len(found)}")
    return noticed < 0.9 * tried


def _source(module: str) -> str:
    return inspect.getsource(importlib.import_module(f"slotwise.service.{module}"))


def _is_noticed(module: str, mutant: Mutant) -> bool:
    child = os.fork()
    if child == 0:
        _try(module, mutant)
    give_up = time.monotonic() + AT_MOST
    while time.monotonic() < give_up:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status != 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _try(module: str, mutant: Mutant) -> None:
    """Exits with 0 if no test notices the mutant."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        with swapped(importlib.import_module(f"slotwise.service.{module}"), mutant.source):
            if any(isinstance(simulate(seed), Failure) for seed in range(SEEDS)):
                os._exit(1)
            tests = [test for test in TESTS[module] if os.path.exists(test.partition("::")[0])]
            # the tests of PostgreSQL start a server, which takes longer than all others
            os._exit(int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-k", "not postgresql", *tests])))
    except BaseException:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
