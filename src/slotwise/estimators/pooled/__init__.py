"""The default of `slotwise fit`: attractiveness with a learned prior, and placements pooled as far as the data support.

`pooled_fit.py` has the functions to call, `placement_cells.py` the counts of all placements, `cell_prior.py` the prior
that is learned, `own_slots.py` the slots of placements that differ, and `pooled_errors.py` the standard errors, by the
blocks of `block_solver.py`.
"""

#: its id, among the ids of the estimators
POOLED = "pooled"
