"""The Python client of the service: the package `slotwise_client`, under a second name."""

from __future__ import annotations

from slotwise.core.errors import MissingClient

try:
    from slotwise_client import Client, ClientError, Decision, InvalidRequest, ServiceProblem, ServiceUnreachable
except ModuleNotFoundError as missing:
    if missing.name != "slotwise_client":
        raise
    raise MissingClient from None

__all__ = ["Client", "ClientError", "Decision", "InvalidRequest", "ServiceProblem", "ServiceUnreachable"]
