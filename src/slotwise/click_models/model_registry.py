"""The registry of click models; each is registered in the file that defines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from slotwise.core.registry import Registry

Model = TypeVar("Model", bound=Callable[..., Any])


@dataclass(frozen=True)
class ChoiceModelEntry:
    """A registered click model.

    Parameters
    ----------
    id
        The id, as in a problem file.
    name
        The name in tables and figures.
    citation
        The publication of the model.
    make
        The class of its users, or a function that returns them; takes the fields by name.
    example
        Example users: a value for every field, as in a problem file.
    """

    id: str
    name: str
    citation: str
    make: Callable[..., Any]
    example: Mapping[str, Any]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of its users in a problem file."""
        return tuple(self.example)


REGISTRY = Registry[ChoiceModelEntry]("choice model", group="slotwise.click_models")


def register(id: str, *, name: str, citation: str, example: Mapping[str, Any]) -> Callable[[Model], Model]:
    """Decorate the class of a click model's users; the arguments are the fields of `ChoiceModelEntry`."""

    def add(model: Model) -> Model:
        REGISTRY.add(ChoiceModelEntry(id, name, citation, model, dict(example)))
        return model

    return add


def choice_models() -> list[ChoiceModelEntry]:
    """Return every registered click model, in order of id."""
    return REGISTRY.entries()


def choice_model(id: str) -> ChoiceModelEntry:
    """Return the click model with this id.

    Parameters
    ----------
    id
        The id of a registered click model.

    Examples
    --------
    >>> choice_model("mnl").fields
    ('position_bias', 'attractiveness')
    """
    return REGISTRY[id]
