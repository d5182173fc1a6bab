"""`python -m slotwise.ranker.compile_all`: compile into the cache, for whoever would rather wait now.

Without arguments it compiles every policy for simulations, and the default one as a `Ranker` has it. With a rehearsal
and the id of a process it compiles what that process needs, and ends when that one ends.
"""

from __future__ import annotations

import subprocess
import sys

from slotwise.policies import default_policy
from slotwise.ranker.compile_process import work_for
from slotwise.ranker.warmup_script import Rehearsal
from slotwise.simulation.compile_policies import warm_up as warm_up_simulations


def warm_up() -> None:
    """All that `simulate`, and a `Ranker` with its default policy, need; the position bias known or not."""
    warm_up_simulations()
    warm_up_rankers()


def warm_up_rankers() -> None:
    """All that a `Ranker` with its default policy needs, with segments and features or without."""
    for known in (False, True):
        for pools in (False, True):
            Rehearsal(default_policy(known_bias=known), slots=1, items=1, bias_is_known=known, pools=pools).run()


def main() -> None:
    """Of all, or of one rehearsal for another process."""
    if len(sys.argv) == 1:
        # a core each
        with subprocess.Popen([sys.executable, "-P", "-m", "slotwise.simulation.compile_policies"]) as simulations:
            warm_up_rankers()
        sys.exit(simulations.returncode)
    else:
        rehearsal, parent = sys.argv[1:]
        work_for(int(parent))
        Rehearsal.read(rehearsal).run()


if __name__ == "__main__":
    main()
