"""Conformance checks for your own policy, estimator or click model.

Each check raises `AssertionError` with a message that names the requirement.

>>> from slotwise.testing import check_click_model, check_estimator, check_policy
>>> check_policy("epoch-ucb")
>>> check_estimator("scaling")
>>> check_click_model("mnl")
"""

from slotwise.testing.click_model_checks import check_click_model
from slotwise.testing.estimator_checks import check_estimator
from slotwise.testing.policy_checks import check_policy

__all__ = ["check_click_model", "check_estimator", "check_policy"]
