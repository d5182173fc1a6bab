"""Errors of the client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """Base class of the client's errors."""


class InvalidRequest(ClientError, ValueError):
    """An argument is invalid; nothing was sent. The message names the argument and its value."""


class ServiceUnreachable(ClientError, ConnectionError):
    """The service did not respond, or the response is not one of slotwise."""


class ServiceProblem(ClientError):
    """The service rejected a request.

    Parameters
    ----------
    status
        the HTTP status
    document
        the error response (RFC 9457)

    Examples
    --------
    >>> document = {"title": "Unprocessable", "detail": "slots: too few", "errors": [{"field": "slots"}]}
    >>> problem = ServiceProblem(422, document)
    >>> print(problem, problem.status, problem.field)
    422 Unprocessable: slots: too few 422 slots

    """

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.document = dict(document)
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        super().__init__(f"{status} {self.title}: {self.detail}")

    def __reduce__(self) -> tuple[type[ServiceProblem], tuple[int, dict[str, Any]]]:
        return type(self), (self.status, self.document)

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The errors of single fields, if the service reports them."""
        errors = self.document.get("errors")
        return [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []

    @property
    def field(self) -> str | None:
        """The first invalid field."""
        return next((str(error["field"]) for error in self.errors if "field" in error), None)
