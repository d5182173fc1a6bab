"""Do the data determine the parameters? A slot can only be compared with another by an item that was in both."""

from __future__ import annotations

import numpy as np

from slotwise.core.tally import Tally
from slotwise.core.types import IntArray


def groups(tally: Tally) -> tuple[IntArray, IntArray]:
    """Number the parts that the data compare with each other, for each slot and for each item.

    A click on a pair bounds its γ from below, an arc from the slot to the item; a pass bounds it from above, an arc
    from the item to the slot. The parts are the strongly connected components of that graph.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items.

    Returns
    -------
    tuple of two arrays
        The number of the part, per slot and per item.
    """
    # here, for it takes long to import, and decisions need none of it
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    clicked_slot, clicked_item = np.nonzero(tally.clicks)
    passed_slot, passed_item = np.nonzero(tally.passes)
    # slots are the nodes 0 … K-1, items the nodes K … K+J-1
    tails = np.concatenate([clicked_slot, passed_item + tally.slots])
    heads = np.concatenate([clicked_item + tally.slots, passed_slot])
    nodes = tally.slots + tally.items
    graph = coo_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(nodes, nodes)).tocsr()
    labels = connected_components(graph, connection="strong")[1].astype(np.int64)
    return labels[: tally.slots], labels[tally.slots :]


def is_identifiable(tally: Tally) -> bool:
    """Whether a finite maximum-likelihood estimate exists: all slots and items are in one group.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items.

    Examples
    --------
    >>> from slotwise.core.tally import Tally
    >>> is_identifiable(Tally(np.array([[3, 0], [0, 2]]), np.array([[5, 0], [0, 5]])))    # nothing ties slot to slot
    False
    >>> is_identifiable(Tally(np.array([[3, 1], [0, 2]]), np.array([[5, 2], [2, 5]])))
    True
    """
    slots, items = groups(tally)
    return len(np.unique(np.concatenate([slots, items]))) == 1
