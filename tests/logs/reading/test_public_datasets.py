from __future__ import annotations

from pathlib import Path

import pytest

from slotwise import logs
from slotwise.core.errors import InvalidInput, UnknownName, UnreadableFile
from slotwise.logs.counting.click_sets import click_sets
from slotwise.logs.reading.public_datasets import load, recognised

SHORT = "7_0\t11,12,13 : 13 , 11 , 13; 7_0\t11,12,13 :; 8_1\t12,11 : 12;\n"
LONG = """1\t0\tQ\t7\t0\t11\t12\t13
1\t5\tC\t13
1\t9\tQ\t8\t0\t12\t14
1\t12\tC\t11
1\t13\tC\t14
2\t0\tQ\t7\t0\t11\t12\t13
"""
BANDIT = """,timestamp,item_id,position,click,propensity_score,user_feature_0
0,2019-11-24 00:00:07+00:00,79,3,0,0.0125,x
1,2019-11-24 00:00:19+00:00,14,1,1,0.0125,y
2,2019-11-24 00:00:19+00:00,79,2,0,0.025,y
"""


def _written(folder: Path, text: str) -> Path:
    file = folder / "file"
    file.write_text(text)
    return file


def test_short_sessions(tmp_path: Path) -> None:
    file = _written(tmp_path, SHORT)
    assert recognised(file) == "yandex"
    table, columns = load(file, "yandex")
    assert table.to_pylist() == [
        {"query": "7_0", "items": ["11", "12", "13"], "clicked": ["13", "11"]},
        {"query": "7_0", "items": ["11", "12", "13"], "clicked": []},
        {"query": "8_1", "items": ["12", "11"], "clicked": ["12"]},
    ]
    seven, eight = click_sets(table, columns)
    assert (seven.placement, seven.several, eight.placement) == ("7_0", 1, "8_1")
    assert sorted(seven.first.tolist()) == [-1, 2]


def test_sessions_line_by_line(tmp_path: Path) -> None:
    """A click belongs to the last query that showed it: the first page, though another was asked for since."""
    file = _written(tmp_path, LONG)
    assert recognised(file) == "yandex"
    table, _ = load(file, "yandex")
    assert table.to_pylist() == [
        {"query": "7", "items": ["11", "12", "13"], "clicked": ["13", "11"]},
        {"query": "8", "items": ["12", "14"], "clicked": ["14"]},
        {"query": "7", "items": ["11", "12", "13"], "clicked": []},
    ]


def test_open_bandit(tmp_path: Path) -> None:
    file = _written(tmp_path, BANDIT)
    assert recognised(file) == "open-bandit"
    table, columns = load(file, "open-bandit")
    counted = logs.tally(table, columns)
    assert counted.item_ids == ("14", "79")
    assert counted.clicks.tolist() == [[1, 0], [0, 0], [0, 0]]
    assert counted.passes.tolist() == [[0, 0], [0, 1], [0, 1]]
    assert logs.fit(table, columns).logged is not None


def test_an_ordinary_log_is_none_of_them(tmp_path: Path) -> None:
    assert recognised(_written(tmp_path, "impression,slot,item,clicked\n1,1,a,0\n")) is None
    assert recognised(tmp_path / "no such file") is None
    assert recognised("postgresql://me@host/shop") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "7_0\t11,12 : 11; 7_0 no tab",
            r"file, record 2: expected query, tab, documents, colon and clicks, got '7_0 no",
        ),
        ("1\t0\tQ\t7\t0\t11\t12\n1\t5\tX\t13\n", r"file, line 2: expected a query \(Q\) or a click \(C\), got '1"),
    ],
)
def test_a_malformed_session_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load(_written(tmp_path, text), "yandex")


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown format 'yandax': did you mean yandex"):
        load(tmp_path, "yandax")
    with pytest.raises(UnreadableFile, match="there is no file"):
        load(tmp_path / "nothing", "yandex")
    with pytest.raises(UnreadableFile, match="cannot be read as open-bandit"):
        load(_written(tmp_path, "a,b\n1,2\n"), "open-bandit")
