"""What is logged, on stderr: a JSON object a line for programs, plain lines for a person at a terminal.

Keys, tokens and bodies are never among what is logged.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """Time, level, logger, event, and whatever `extra` says."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
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
    """The time of day here, the event, whatever `extra` says, and the level where it is worse than information."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        level = f"{record.levelname.lower()}: " if record.levelno > logging.INFO else ""
        extra = ", ".join(f"{key} {value}" for key, value in _extra(record).items())
        line = f"{time}  {level}{record.getMessage()}{f' ({extra})' if extra else ''}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if key not in _OWN}


def is_for_a_person() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr.isatty()


def configure(level: str) -> None:
    """Send everything of ours and of the server's to stderr, in the form that suits who reads it."""
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
        # which of its steps a server has come to tells a person nothing
        server.setLevel(logging.WARNING)
    # an error that is answered with a 500 is logged by us, once
    server.addFilter(lambda record: "Exception in ASGI application" not in record.getMessage())
