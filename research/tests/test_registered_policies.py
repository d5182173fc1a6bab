"""The policies of research pass the checks that slotwise has for those of other packages."""

from __future__ import annotations

import pytest

import research
from slotwise import available_policies
from slotwise.policies import PolicySpec
from slotwise.testing import check_policy

OURS = [entry for entry in available_policies() if entry.make.__module__.startswith(f"{research.__name__}.")]


@pytest.mark.parametrize("entry", OURS, ids=str)
def test_the_checks_for_third_parties_pass(entry: PolicySpec) -> None:
    check_policy(entry)
