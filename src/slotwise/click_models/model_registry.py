"""The models of how users choose, by name, each registered in the file that defines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from slotwise.core.registry import Registry

Model = TypeVar("Model", bound=Callable[..., Any])


@dataclass(frozen=True)
class ChoiceModelEntry:
    """A choice model as it is registered."""

    id: str
    name: str
    citation: str
    #: the class of its users, or a function that makes them; by field name
    make: Callable[..., Any]
    #: users to try it with: a value for every field, as a problem file has them
    example: Mapping[str, Any]

    @property
    def fields(self) -> tuple[str, ...]:
        """What a problem file must say of its users."""
        return tuple(self.example)


REGISTRY = Registry[ChoiceModelEntry]("choice model")


def register(id: str, *, name: str, citation: str, example: Mapping[str, Any]) -> Callable[[Model], Model]:
    """Decorate the class of a choice model's users, or what makes them; the arguments are as in `ChoiceModelEntry`."""

    def add(model: Model) -> Model:
        REGISTRY.add(ChoiceModelEntry(id, name, citation, model, dict(example)))
        return model

    return add


def choice_models() -> list[ChoiceModelEntry]:
    """Every registered choice model, in order of id."""
    return REGISTRY.entries()


def choice_model(id: str) -> ChoiceModelEntry:
    """The choice model registered as `id`.

    >>> choice_model("mnl").fields
    ('position_bias', 'attractiveness')
    """
    return REGISTRY[id]
