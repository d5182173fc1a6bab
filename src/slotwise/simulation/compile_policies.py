"""`python -m slotwise.simulation.compile_policies`: compile policies into the kernel cache ahead of time.

Without an argument it compiles every policy but the rivals, which are compiled at their first use; with ids of
policies it compiles these.
"""

from __future__ import annotations

import sys

from slotwise.click_models import MNL
from slotwise.policies import available_policies
from slotwise.simulation.runner import simulate


def warm_up(*ids: str) -> None:
    """Play one round of the policies with these ids, by default of every policy that is no rival."""
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])
    ours = (entry for entry in available_policies() if not entry.rival)
    default = [variant for entry in ours for variant in entry.bias_variants]
    simulate(users, ids or default, rounds=1, progress=False)


if __name__ == "__main__":
    warm_up(*sys.argv[1:])
