"""Do once all that a learner does, so that all of it is compiled, and kept in the cache."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.policies import PolicyEntry, policy
from slotwise.ranker.compile_process import mark_filled

#: as many as it takes to pin one item and to leave one out
SLOTS, ITEMS = 2, 4


@dataclass(frozen=True)
class Rehearsal:
    """A learner of this kind, as far as it matters to the compiler."""

    policy: PolicyEntry
    slots: int
    items: int
    bias_is_known: bool
    #: whether there are segments of visitors, or features of items
    pools: bool = False

    @property
    def is_for_others(self) -> bool:
        """Whether another process could hold it: the policy is this package's, and its options can be written down."""
        try:
            return bool(self.text) and self.policy.make.__module__.partition(".")[0] == __name__.partition(".")[0]
        except TypeError:
            return False

    @property
    def text(self) -> str:
        """All of it as JSON: the same text, the same kernels."""
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
    def read(cls, text: str) -> Rehearsal:
        """What `text` says."""
        words = json.loads(text)
        chosen = policy(words["policy"], **words["options"])
        return cls(chosen, words["slots"], words["items"], words["bias_is_known"], words["pools"])

    @property
    def _size(self) -> tuple[int, int]:
        """The size of a problem does not matter to the compiler, unless an option has a number per slot or item."""
        if all(np.ndim(option) == 0 for option in self.policy.options.values()):
            return SLOTS, ITEMS
        return self.slots, self.items

    def run(self) -> None:
        """Hold it, and say in the cache that it was held."""
        # it is the learner that asks for a rehearsal
        from slotwise.ranker.background_compile import compiling
        from slotwise.ranker.learner import Learner

        slots, items = self._size
        names = [str(number) for number in range(items)]
        bias = np.ones(slots) if self.bias_is_known else None
        with compiling("first"):
            learner = Learner(
                names,
                slots,
                policy=self.policy,
                position_bias=bias,
                segments=2 if self.pools else 1,
                rng=np.random.default_rng(0),
            )
        shown = learner.choose(segment=learner.segments - 1)
        learner.expect(shown)
        learner.settle(shown)
        learner.learn(shown, shown[0])
        learner.learn(shown, None)
        learner.choose_several(1)
        learner.learn(learner.choose(pin={names[0]: 1}), None)
        if items > 1:
            learner.learn(learner.choose(exclude=names[-1:]), None)
        learner.absorb(learner.tally.clicks, learner.tally.passes)
        if self.pools:
            learner.learn(shown, None, segment=1)
            # starts anew, and absorbs what was counted of each segment
            learner.add_segment()
            learner.choose(segment=2)
        learner.estimates()
        learner.estimates(segment=learner.segments - 1)
        # what else is told of them: the first to look at a dashboard waits for no compiler either
        learner.best_list(pin={names[0]: 1})
        learner.slot_chances()
        learner.prospects([shown])
        learner.choose_best()
        mark_filled(self.text)


def _listed(option: Any) -> Any:
    if isinstance(option, np.ndarray | np.generic):
        return option.tolist()
    raise TypeError(f"{option!r} cannot be written down")
