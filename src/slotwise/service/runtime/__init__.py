"""The worker, which runs the service without HTTP, and its background tasks."""

from slotwise.service.runtime.worker import Clock, Worker

__all__ = ["Clock", "Worker"]
