"""Python client of the slotwise service, on the standard library alone."""

from slotwise_client.client import Client, Decision
from slotwise_client.client_errors import ClientError, InvalidRequest, ServiceProblem, ServiceUnreachable

__all__ = ["Client", "ClientError", "Decision", "InvalidRequest", "ServiceProblem", "ServiceUnreachable"]
