"""Validation errors of a request body or a file, field by field."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from slotwise.core import validation
from slotwise.service.schemas.report_schemas import FieldProblem

#: prefix of the tag of a union's member, which is left out of the field's path
KIND: Final = "="
#: characters of a field's path
MAX_FIELD: Final = 200


def faults(problem: ValidationError, *, whole: str = "body") -> list[FieldProblem]:
    """The fields with errors, their values and the reasons; values of tokens are left out.

    Parameters
    ----------
    problem
        The error of pydantic.
    whole
        The name of the document, for errors that concern no single field.
    """
    problems: list[FieldProblem] = []
    for error in problem.errors(include_url=False, include_context=False)[:20]:
        field = ".".join(str(part) for part in error["loc"] if not str(part).startswith(KIND)) or whole
        fault: FieldProblem = {"field": field[:MAX_FIELD], "detail": error["msg"]}
        has_value = error["type"] == "missing" or ", got " in error["msg"]
        if error["loc"] and "token" not in error["loc"] and not has_value:
            fault["value"] = validation.short(error["input"])
        problems.append(fault)
    return problems
