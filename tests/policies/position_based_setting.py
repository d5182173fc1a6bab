"""The setting of the papers on the position-based model: few slots, clear differences, every click counted."""

from __future__ import annotations

from slotwise.click_models import PositionBased

#: κ and θ as in the simulations of Lagrée, Vernade and Cappé (2016), §6
USERS = PositionBased(position_bias=[0.9, 0.6, 0.3], attraction=[0.3, 0.25, 0.2, 0.15, 0.1])
ROUNDS = 10_000
REPLICATIONS = 12
