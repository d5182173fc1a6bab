"""The estimators by name, each registered in the file that defines it, with what it needs and what to try it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from slotwise.core import validation
from slotwise.core.registry import Registry
from slotwise.estimators.estimate import Estimate

#: what it is a function of: counts are enough, or whole lists have to be known
Needs = Literal["tally", "rankings"]
#: known: it is told λ; unknown: it estimates λ
Bias = Literal["known", "unknown"]

#: what an estimator may declare that it cannot do; whatever it does not declare is tested
LIMITS = {
    "gaps": "be relied on where a slot was never clicked, or where the data do not compare all slots and items",
    "many items": "deal with a hundred thousand items that were seen a few times each",
}

Estimator = TypeVar("Estimator", bound=Callable[..., Estimate])


@dataclass(frozen=True)
class EstimatorEntry:
    """An estimator as it is registered."""

    id: str
    name: str
    citation: str
    estimate: Callable[..., Estimate]
    needs: Needs = "tally"
    position_bias: Bias = "unknown"
    #: what it must be given besides the data, with values to try
    try_with: Mapping[str, Any] = field(default_factory=dict)
    #: what it cannot do, by keys of `LIMITS`, and why
    limits: Mapping[str, str] = field(default_factory=dict)
    #: its place in the legends of figures, and in tables
    legend: float = float("inf")

    @property
    def needs_data_only(self) -> bool:
        """Whether it is a function of the data and nothing else."""
        return self.position_bias == "unknown" and not self.try_with

    def tried(self, counts: Any, position_bias: Any) -> Estimate:
        """The estimate, with what it is to be tried with; the position bias is for those that are told it."""
        told = (position_bias,) if self.position_bias == "known" else ()
        return self.estimate(counts, *told, **self.try_with)


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
    """Every registered estimator, in the order of legends and then of ids."""
    return REGISTRY.entries()


def estimator(id: str) -> EstimatorEntry:
    """The estimator registered as `id`.

    >>> estimator("maximum-likelihood").needs
    'rankings'
    """
    return REGISTRY[id]
