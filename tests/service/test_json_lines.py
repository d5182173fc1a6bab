from __future__ import annotations

import logging

from slotwise.service.json_lines import JsonLines


def test_logs_are_one_object_a_line() -> None:
    record = logging.makeLogRecord({"msg": "a\nb", "levelname": "INFO", "placement": "home"})
    line = JsonLines().format(record)
    assert "\n" not in line
    assert '"placement": "home"' in line
