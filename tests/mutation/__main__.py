"""`python -m tests.mutation`: mutants of storage, counting, outcomes and tokens, and the tests that notice them.

Each mutant runs in a process that is forked when everything is imported: its code takes the place of the original.
`storage.sql_store` tries the mutants of a module, and `storage.sql_store:120` those of one line.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import os
import resource
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Final

import pytest

from tests.mutation.code_swap import swapped
from tests.mutation.mutants import Mutant, mutants
from tests.service.simulation.run import Failure, simulate

_STORE: Final = "tests/service/storage/test_store.py"
_PERIODS: Final = "tests/service/storage/test_periods.py"
_DOCTESTS: Final = "src/slotwise/service/"
#: the tests of each module, which run after some histories of the simulation
TESTS: Final[dict[str, tuple[str, ...]]] = {
    "storage.accumulator": (f"{_DOCTESTS}storage/accumulator.py", _STORE),
    "storage.alerts_table": (_STORE, "tests/service/runtime/test_alerting.py"),
    "storage.batch_writer": ("tests/service/storage/test_batch_writer.py", _STORE),
    "storage.count_tables": (_STORE, _PERIODS),
    "storage.decision_log": (_STORE,),
    "storage.idempotency": (_STORE,),
    "storage.outcome_rules": ("tests/service/storage/test_outcome_rules.py", _STORE),
    "storage.placements_table": (_STORE, _PERIODS),
    "storage.rewards": (f"{_DOCTESTS}storage/rewards.py", _STORE, "tests/service/http/test_events.py"),
    "storage.sql_store": (_STORE, _PERIODS),
    "storage.sticky_lists": (_STORE,),
    "storage.visitor_caps": ("tests/service/storage/test_visitor_caps.py",),
    "decisions.outcome_tokens": (
        f"{_DOCTESTS}decisions/outcome_tokens.py",
        "tests/service/decisions/test_outcome_tokens.py",
    ),
}
#: the state machine, which takes longest and comes last
MACHINE: Final = "tests/service/storage/test_machine.py::test_on_sqlite"
#: seeds before the tests, and before the state machine
FIRST_SEEDS, SEEDS = 6, 40
#: seconds of processor time after which a mutant that has not ended is killed, and counts as noticed
AT_MOST: Final = 120


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end after so many minutes")
    parser.add_argument("--skip", type=int, default=0, help="begin after so many mutants")
    parser.add_argument("modules", nargs="*", default=[*TESTS])
    options = parser.parse_args()
    began, noticed, tried = time.monotonic(), 0, 0
    _prepare({wanted.partition(":")[0] for wanted in options.modules})
    found = [each for wanted in options.modules for each in _mutants(wanted)]
    for module, mutant in found[options.skip :]:
        if time.monotonic() - began > options.minutes * 60.0:
            break
        tried += 1
        if _is_noticed(module, mutant):
            noticed += 1
        else:
            print(f"survived: {module}:{mutant.line} {mutant.what}", flush=True)
        if tried % 25 == 0:
            print(f"{noticed} of {tried}, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{noticed} of {tried} mutants were noticed ({noticed / max(1, tried):.1%}); there are {len(found)}")
    return noticed < 0.9 * tried


def _prepare(modules: set[str]) -> None:
    """Import all that tests need, before processes are forked, and see that they pass on sound code."""
    simulate(0)
    every = sorted({MACHINE.partition("::")[0], *(test for module in modules for test in TESTS[module])})
    with open(os.devnull, "w") as silent, contextlib.redirect_stdout(silent):
        pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", *every])
    for module in modules:
        if _is_noticed(module, Mutant(0, "none", _source(module)), only_tests=True):
            raise SystemExit(f"the tests of {module} fail without a mutant")


def _mutants(wanted: str) -> Iterator[tuple[str, Mutant]]:
    module, _, line = wanted.partition(":")
    return ((module, mutant) for mutant in mutants(_source(module)) if line in ("", str(mutant.line)))


def _source(module: str) -> str:
    return inspect.getsource(importlib.import_module(f"slotwise.service.{module}"))


def _is_noticed(module: str, mutant: Mutant, *, only_tests: bool = False) -> bool:
    child = os.fork()
    if child == 0:
        _try(module, mutant, only_tests)
    return os.waitpid(child, 0)[1] != 0


def _try(module: str, mutant: Mutant, only_tests: bool) -> None:
    """Exits with 0 if no test notices the mutant."""
    resource.setrlimit(resource.RLIMIT_CPU, (AT_MOST, AT_MOST))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        with swapped(importlib.import_module(f"slotwise.service.{module}"), mutant.source):
            if only_tests:
                os._exit(_test(*TESTS[module]))
            is_noticed = _fails(range(FIRST_SEEDS)) or _test(*TESTS[module]) or _fails(range(FIRST_SEEDS, SEEDS))
            os._exit(is_noticed or _test(MACHINE))
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _fails(seeds: range) -> bool:
    return any(isinstance(simulate(seed), Failure) for seed in seeds)


def _test(*tests: str) -> int:
    # the tests of PostgreSQL start a server, which takes longer than all others
    return int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-k", "not postgresql", *tests]))


if __name__ == "__main__":
    sys.exit(main())
