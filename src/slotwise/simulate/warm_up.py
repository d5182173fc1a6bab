"""`python -m slotwise.simulate.warm_up`: compile every policy into the cache, for whoever would rather wait now."""

from __future__ import annotations

from slotwise.choice import MNL
from slotwise.policies import policies
from slotwise.simulate.replicate import simulate


def warm_up() -> None:
    """Play one round of every policy."""
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])
    simulate(users, policies(), rounds=1, progress=False)


if __name__ == "__main__":
    warm_up()
