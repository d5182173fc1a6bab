"""`python -m slotwise.simulation.compile_policies`: compile policies into the cache, for whoever would rather wait now.

Without an argument it compiles every policy but the rivals, which whoever asks for one waits for; with the name of a
study, such as `paper`, those that the study compares.
"""

from __future__ import annotations

import sys

from slotwise.click_models import MNL
from slotwise.policies import policies
from slotwise.policies.policy_registry import compared_in
from slotwise.simulation.runner import simulate


def warm_up(study: str | None = None) -> None:
    """Play one round of every policy that is no rival, or of those that a study compares."""
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])
    ours = (entry for entry in policies() if not entry.rival)
    wanted = compared_in(study) if study else [variant for entry in ours for variant in entry.bias_variants]
    simulate(users, wanted, rounds=1, progress=False)


if __name__ == "__main__":
    warm_up(*sys.argv[1:])
