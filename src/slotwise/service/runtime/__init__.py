"""The service without HTTP: it decides, takes outcomes, learns, finalises and estimates."""

from slotwise.service.runtime.worker import Clock, Worker

__all__ = ["Clock", "Worker"]
