"""Logging to stderr: JSON lines for programs, plain lines for a terminal.

Keys, tokens and bodies are never logged.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """Time, level, logger, event and extra fields as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            "process": os.getpid(),
        }
        line.update(_extra(record))
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class PlainLines(logging.Formatter):
    """The local time of day, the level of warnings and errors, the event, and extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        level = f"{record.levelname.lower()}: " if record.levelno > logging.INFO else ""
        extra = ", ".join(f"{key} {value}" for key, value in _extra(record).items())
        line = f"{time}  {level}{record.getMessage()}{f' ({extra})' if extra else ''}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _OWN}


def is_for_a_person() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr.isatty()


def configure(level: str) -> None:
    """Send the logs of slotwise and of the server to stderr, as plain lines to a terminal and as JSON otherwise."""
    person = is_for_a_person()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if person else JsonLines())
    for name in ("slotwise", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper())
    server = logging.getLogger("uvicorn.error")
    if person and level == "info":
        # the steps of a server's start are noise at a terminal
        server.setLevel(logging.WARNING)
    # slotwise itself logs an error that is answered with 500
    server.addFilter(lambda record: "Exception in ASGI application" not in record.getMessage())
