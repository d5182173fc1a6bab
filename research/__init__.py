"""Studies of slotwise's policies, posteriors and estimators, run from a checkout; not part of the installed package.

Importing this package registers its policies, and the environment of visitors with features.
"""

from research import contextual, further_policies, joint_gibbs, pmed

__all__ = ["contextual", "further_policies", "joint_gibbs", "pmed"]
