"""Studies of slotwise's policies, posteriors and estimators, run from a checkout; not part of the installed package.

Importing this package registers the policy `pmed`.
"""

from research import pmed as pmed
