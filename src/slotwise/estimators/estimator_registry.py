"""The registry of estimators; each is registered in the file that defines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.rankings import Rankings
from slotwise.core.registry import Registry
from slotwise.core.tally import Tally
from slotwise.estimators.estimate import Estimate

#: the data that it needs: a tally, or whole lists
Needs = Literal["tally", "rankings"]
#: known: it takes λ as an argument; unknown: it estimates λ
Bias = Literal["known", "unknown"]

#: limits that an estimator may declare; tests check everything else
LIMITS = {
    "gaps": "be relied on where a slot was never clicked, or where the data do not compare all slots and items",
    "many items": "deal with a hundred thousand items that were seen a few times each",
}

Estimator = TypeVar("Estimator", bound=Callable[..., Estimate])


@dataclass(frozen=True)
class EstimatorEntry:
    """A registered estimator.

    Parameters
    ----------
    id
        The id, as in `slotwise fit --estimator`.
    name
        The name in tables and figures.
    citation
        The publication of the estimator.
    estimate
        The function from counts to an `Estimate`.
    needs
        "tally" or "rankings".
    position_bias
        Whether position bias is "known" or "unknown".
    try_with
        Required arguments, with values for tests.
    limits
        Reasons by keys of `LIMITS`.
    legend
        The place in tables and in the legends of figures.
    """

    id: str
    name: str
    citation: str
    estimate: Callable[..., Estimate]
    needs: Needs = "tally"
    position_bias: Bias = "unknown"
    try_with: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    legend: float = float("inf")

    @property
    def needs_data_only(self) -> bool:
        """Whether it needs no argument other than the data."""
        return self.position_bias == "unknown" and not self.try_with

    def tried(self, counts: Tally | Rankings, position_bias: ArrayLike) -> Estimate:
        """Return the estimate with the arguments for tests; `position_bias` is used if the estimator takes it."""
        arguments = (position_bias,) if self.position_bias == "known" else ()
        return self.estimate(counts, *arguments, **self.try_with)


REGISTRY = Registry[EstimatorEntry](
    "estimator", order=lambda entry: (entry.legend, entry.id), group="slotwise.estimators"
)


def register(
    id: str,
    *,
    name: str,
    citation: str,
    needs: Needs = "tally",
    position_bias: Bias = "unknown",
    try_with: Mapping[str, Any] | None = None,
    limits: Mapping[str, str] | None = None,
    legend: float = float("inf"),
) -> Callable[[Estimator], Estimator]:
    """Decorate an estimator: a function of a `Tally` or of `Rankings`; the arguments are as in `EstimatorEntry`."""
    for limit in limits or {}:
        validation.one_of(f"a limit of {id}", limit, tuple(LIMITS))

    def add(estimate: Estimator) -> Estimator:
        REGISTRY.add(
            EstimatorEntry(
                id, name, citation, estimate, needs, position_bias, dict(try_with or {}), dict(limits or {}), legend
            )
        )
        return estimate

    return add


def estimators() -> list[EstimatorEntry]:
    """Return every registered estimator, in the order of legends and then of ids."""
    return REGISTRY.entries()


def estimator(id: str) -> EstimatorEntry:
    """Return the estimator with this id.

    Parameters
    ----------
    id
        The id of a registered estimator.

    Examples
    --------
    >>> estimator("maximum-likelihood").needs
    'rankings'
    """
    return REGISTRY[id]
