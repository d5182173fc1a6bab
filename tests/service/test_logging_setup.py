from __future__ import annotations

import logging
import re

from slotwise.service.logging_setup import JsonLines, PlainLines


def test_logs_are_one_object_a_line() -> None:
    record = logging.makeLogRecord({"msg": "a\nb", "levelname": "INFO", "placement": "home"})
    line = JsonLines().format(record)
    assert "\n" not in line
    assert '"placement": "home"' in line


def test_a_person_reads_the_event_first_and_its_level_only_where_it_is_bad() -> None:
    extra = {"placement": "home", "created": 0.0}
    fine = logging.makeLogRecord({"msg": "ready", "levelname": "INFO", "levelno": logging.INFO, **extra})
    assert re.fullmatch(r"\d\d:\d\d:00  ready \(placement home\)", PlainLines().format(fine))
    bad = logging.makeLogRecord({"msg": "no store", "levelname": "ERROR", "levelno": logging.ERROR})
    assert re.fullmatch(r"\d\d:\d\d:\d\d  error: no store", PlainLines().format(bad))
