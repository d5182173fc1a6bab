"""The script that compiles the kernels of a learner, as text: the input of `slotwise.ranker.compile_all`."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from slotwise.jit.background_compile import WarmUp
from slotwise.policies import PolicySpec, get_policy

MODULE = "slotwise.ranker.compile_all"
#: as many as it takes to pin one item and to leave one out
SLOTS, ITEMS = 2, 4


@dataclass(frozen=True)
class WarmUpScript:
    """The properties of a learner that matter to the compiler."""

    policy: PolicySpec
    slots: int
    items: int
    bias_is_known: bool
    #: whether there are segments of visitors, or features of items
    pools: bool = False

    @property
    def warm_up(self) -> WarmUp:
        """The script; another process can run it if the policy is this package's and its options are JSON."""
        try:
            return WarmUp(MODULE, self.text, self.policy.make.__module__.partition(".")[0] == MODULE.partition(".")[0])
        except TypeError:
            return WarmUp(MODULE, "", is_shared=False)

    @property
    def text(self) -> str:
        """The script as JSON; equal texts have equal kernels."""
        words = {
            "policy": self.policy.id,
            "options": self.policy.options,
            "bias_is_known": self.bias_is_known,
            "slots": self._size[0],
            "items": self._size[1],
            "pools": self.pools,
        }
        return json.dumps(words, default=_listed, sort_keys=True)

    @classmethod
    def read(cls, text: str) -> WarmUpScript:
        """Parse `text`."""
        words = json.loads(text)
        chosen = get_policy(words["policy"], **words["options"])
        return cls(chosen, words["slots"], words["items"], words["bias_is_known"], words["pools"])

    @property
    def _size(self) -> tuple[int, int]:
        """The size of a problem does not matter to the compiler, unless an option has a number per slot or item."""
        if all(np.ndim(option) == 0 for option in self.policy.options.values()):
            return SLOTS, ITEMS
        return self.slots, self.items


def _listed(option: object) -> object:
    if isinstance(option, np.ndarray | np.generic):
        return option.tolist()
    raise TypeError(f"{option!r} cannot be written down")
