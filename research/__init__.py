"""Studies of slotwise's policies, posteriors and estimators, run from a checkout; not part of the installed package.

Importing this package registers its policies, its estimator, and the environment of visitors with features.
"""

from research import composite_likelihood, contextual, further_policies, joint_gibbs, pmed

__all__ = ["composite_likelihood", "contextual", "further_policies", "joint_gibbs", "pmed"]
