"""Validation of the names of placements and items."""

from __future__ import annotations

import re
from typing import Annotated, Final
from unicodedata import normalize

from pydantic import AfterValidator, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.service.schemas.validation_errors import faults

MAX_NAME: Final = 200
#: they turn the direction of the text around them, or cannot be seen; joiners are parts of emoji and of some scripts
_HIDDEN: Final = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_JOINERS: Final = re.compile("[\u200c\u200d]")


def _without_hidden_characters(name: str) -> str:
    if validation.has_control_characters(name):
        raise PydanticCustomError("control_character", "must not contain control characters")
    if hidden := _HIDDEN.search(name):
        raise PydanticCustomError(
            "hidden_character", "must not contain the invisible character {code}", {"code": f"U+{ord(hidden[0]):04X}"}
        )
    return name


def appearance(name: str) -> str:
    r"""The same text for names that look the same: normalised (NFKC), without joiners, and blanks as one.

    >>> appearance("cafe\u0301") == appearance("caf\u00e9"), appearance("tea") == appearance("Tea")
    (True, False)
    """
    return name if name.isascii() and " " not in name else " ".join(_JOINERS.sub("", normalize("NFKC", name)).split())


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME), AfterValidator(_without_hidden_characters)]
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
