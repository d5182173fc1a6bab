"""The service without HTTP: it decides, takes outcomes, learns, finalises and estimates."""

from slotwise.service.worker.worker import Clock, Worker

__all__ = ["Clock", "Worker"]
