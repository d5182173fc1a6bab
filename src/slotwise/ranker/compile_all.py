"""`python -m slotwise.ranker.compile_all`: compile into the cache ahead of time.

Without arguments it compiles every policy for simulations, and the default policy for a `Ranker`. With the text of a
`WarmUpScript` and the id of a process it compiles for that process, and ends when that process ends.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from slotwise.jit.background_compile import compiling
from slotwise.jit.compile_process import mark_filled, work_for
from slotwise.policies import default_policy
from slotwise.ranker.learner import Learner
from slotwise.ranker.warmup_script import WarmUpScript


def run(text: str) -> None:
    """Call everything that a learner calls once, so that it is compiled, and mark that in the cache."""
    kind = WarmUpScript.read(text)
    names = [str(number) for number in range(kind.items)]
    with compiling("first"):
        learner = Learner(
            names,
            kind.slots,
            policy=kind.policy,
            position_bias=np.ones(kind.slots) if kind.bias_is_known else None,
            segments=2 if kind.pools else 1,
            features={names[0]: {"feature": 1.0}} if kind.pools else None,
            spare=1,
            rng=np.random.default_rng(0),
        )
    shown = learner.choose(segment=learner.segments - 1)
    learner.add_pending(shown)
    learner.remove_pending(shown)
    learner.learn(shown, shown[0])
    learner.learn(shown, None)
    learner.learn(learner.choose(pin={names[0]: 1}), None)
    if kind.items > 1:
        learner.learn(learner.choose(exclude=names[-1:]), None)
    tally = learner.tally()
    learner.update_from_tally(tally.clicks, tally.passes)
    if kind.pools:
        learner.learn(shown, None, segment=1)
        learner.choose(newcomers={"newcomer": {"feature": 1.0}})
        # the policy starts again, and absorbs the counts of each segment
        learner.add_segment()
        learner.choose(segment=2)
    learner.estimates()
    learner.estimates(segment=learner.segments - 1)
    # so that the first view of a dashboard need not wait for the compiler
    learner.best_list(pin={names[0]: 1})
    learner.slot_chances()
    learner.list_values([shown])
    learner.choose_best()
    # a large placement learns in a copy
    learner.copy()
    mark_filled(text)


def warm_up_rankers() -> None:
    """Compile all that a `Ranker` with its default policy needs, with segments and features or without."""
    for bias_is_known in (False, True):
        for pools in (False, True):
            run(WarmUpScript(default_policy(known_bias=bias_is_known), 1, 1, bias_is_known, pools).text)


def main() -> None:
    """Compile everything, or for one other process."""
    if len(sys.argv) == 1:
        # a core each
        with subprocess.Popen([sys.executable, "-P", "-m", "slotwise.simulation.compile_policies"]) as simulations:
            warm_up_rankers()
        sys.exit(simulations.returncode)
    else:
        text, parent = sys.argv[1:]
        work_for(int(parent))
        run(text)


if __name__ == "__main__":
    main()
