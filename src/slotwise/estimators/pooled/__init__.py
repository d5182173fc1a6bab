"""The default of `slotwise fit`: attractiveness with a learned prior, placements pooled as far as the data say.

`fit.py` has what to call, `cells.py` puts placements side by side, `prior.py` is what is learned of cells in general,
`errors.py` how sure the answer is, by the blocks of `blocks.py`.
"""

#: what it is called beside the ids of the estimators
POOLED = "pooled"
