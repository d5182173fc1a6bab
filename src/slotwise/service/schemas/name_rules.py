"""Validation of the names of placements and items."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.service.schemas.validation_errors import faults

MAX_NAME: Final = 200


def _without_control_characters(name: str) -> str:
    if validation.has_control_characters(name):
        raise PydanticCustomError("control_character", "must not contain control characters")
    return name


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME), AfterValidator(_without_control_characters)]
#: it is a segment of a URL path
PlacementName = Annotated[Name, StringConstraints(pattern=r"^[^/]*$")]

_name: Final = TypeAdapter[str](PlacementName)


def checked_name(name: str) -> str:
    """The name of a placement if it is valid; otherwise an error that names the reason."""
    try:
        return _name.validate_python(name)
    except ValidationError as problem:
        raise InvalidInput(f"name: {faults(problem)[0]['detail']}, got {validation.short(name)}") from None


def is_name(name: str) -> bool:
    """Whether a text is a valid name of a placement."""
    try:
        checked_name(name)
    except InvalidInput:
        return False
    return True
