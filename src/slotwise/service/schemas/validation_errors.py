"""What is wrong with a body or a file, field by field, in words for whoever sent it."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from slotwise.core import validation
from slotwise.service.schemas.report_schemas import FieldProblem

#: before the name of a kind that a value may be of; it is not part of where something is wrong
KIND: Final = "="
#: characters of where it is
MAX_FIELD: Final = 200


def faults(problem: ValidationError, *, whole: str = "body") -> list[FieldProblem]:
    """The fields, their values and what is wrong with each; tokens are not repeated."""
    found: list[FieldProblem] = []
    for error in problem.errors(include_url=False, include_context=False)[:20]:
        field = ".".join(str(part) for part in error["loc"] if not str(part).startswith(KIND)) or whole
        fault: FieldProblem = {"field": field[:MAX_FIELD], "detail": error["msg"]}
        said = error["type"] == "missing" or ", got " in error["msg"]
        if error["loc"] and "token" not in error["loc"] and not said:
            fault["value"] = validation.short(error["input"])
        found.append(fault)
    return found
