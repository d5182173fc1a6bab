"""The placement of a load test, temporary or existing, and the check of its counts."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.loadtest import run_loadtest
from benchmarks.loadtest.__main__ import app
from benchmarks.loadtest.expected_counts import ExpectedCounts
from benchmarks.loadtest.target_placement import existing_placement, temporary_placement
from benchmarks.loadtest.visitor_segments import DEVICES
from benchmarks.tests.faulty_proxy import meddling
from slotwise import MNL, get_policy
from slotwise.client import Client, ServiceProblem, ServiceUnreachable
from slotwise.core.errors import InvalidInput
from slotwise.environments import problem
from tests.service.process import Process, free_port, running
from tests.waiting import FOR_EVER

#: `tests/service` checks the counts of a service; these tests are about the load test
pytestmark = pytest.mark.long
USERS = problem("b").users
#: everybody asks with a key, and again
ALL_KEYED: dict[str, Any] = {"keyed": 1.0, "repeating": 1.0}
SEGMENTS = {"device": ["mobile", "desktop"], "visitor": ["new"]}
names = map("there {}".format, itertools.count())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("loadtest")
    with pytest.MonkeyPatch.context() as patch:
        # a few decisions each, under more than one policy
        patch.setenv("SLOTWISE_COMPILE", "never")
        with running(folder, f"sqlite:///{folder}/store.db", free_port()) as process:
            yield process


@pytest.fixture
def client(service: Process) -> Iterator[Client]:
    with Client(service.url, timeout=FOR_EVER) as report:
        yield report


def _there(client: Client, window: float = 1.0, **more: Any) -> str:
    name = next(names)
    client.put_placement(name, slots=2, items=["a", "b", {"id": "c"}], window_seconds=window, **more)
    return name


def test_segments_features_and_keys_are_checked(service: Process, client: Client) -> None:
    report = run_loadtest(service.url, USERS, visitors=4, rounds=150, window=1.0, **ALL_KEYED)
    assert report.exactly_once is True
    assert report.target.has_features
    assert set(report.expected.by_segment) == {("device", value) for value in ("mobile", "desktop", "other")}
    assert (
        sum(counts.decisions["issued"] for counts in report.expected.by_segment.values())
        == 150 + report.expected.renewed
    )
    # on a slow machine the window may be over
    assert report.expected.repeated + report.expected.renewed + report.expected.missed >= 150
    assert report.target.name not in {one["name"] for one in client.placements()}


def test_a_policy_that_takes_all_for_alike_is_tested_without_segments(service: Process) -> None:
    report = run_loadtest(service.url, USERS, policy=get_policy("pbm-ucb"), visitors=2, rounds=20, window=0.2)
    assert (report.target.audience.segments, report.target.has_features) == ({}, False)
    assert report.exactly_once is True


def test_an_existing_placement_is_checked_and_not_changed(service: Process, client: Client) -> None:
    name = _there(client, segments=SEGMENTS)
    with Client(service.url, timeout=FOR_EVER) as somebody:
        somebody.outcome(somebody.decide(name, context={"device": "mobile"}), clicked=None)
    assert existing_placement(client, name).check(client, ExpectedCounts()).differences == []
    before = client.placement(name), client.version(name)
    report = run_loadtest(service.url, placement=name, visitors=4, rounds=100)
    assert (report.differences, report.verdict and report.verdict.notes) == ([], [])
    assert report.exactly_once is True
    assert (client.placement(name), client.version(name)) == before
    assert client.estimates(name)["decisions"]["issued"] == 101 + report.expected.renewed
    assert ("visitor", "new") in report.expected.by_segment
    assert report.simulated() is None


def test_others_who_use_it_meanwhile_are_mentioned(service: Process, client: Client) -> None:
    name = _there(client)

    def use() -> None:
        """Until the load test has sent many requests."""
        with Client(service.url, timeout=FOR_EVER) as other:
            mine = 0
            while other.estimates(name)["decisions"]["issued"] < mine + 10:
                other.decide(name)
                mine += 1

    thread = threading.Thread(target=use)
    thread.start()
    try:
        report = run_loadtest(service.url, placement=name, visitors=2, rounds=60)
    finally:
        thread.join()
    assert report.differences == []
    assert report.exactly_once is None
    assert report.verdict is not None
    assert "others used" in report.verdict.notes[0]


def test_a_window_too_long_to_wait_for_is_mentioned(service: Process, client: Client) -> None:
    name = _there(client, window=1800.0)
    done = CliRunner().invoke(app, [service.url, "--placement", name, "--rounds", "20"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert "unknown" in done.output
    assert f"the window of {name} is 1,800 s, too long to wait for" in done.output


class Lying(Client):
    """A service's caller who is told of one click too many, or of a decision too few, by one segment."""

    field: str

    def estimates(self, placement: str, segment: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
        report = super().estimates(placement, segment, **more)
        if segment == {"device": "mobile"}:
            if self.field == "tally":
                report["tally"]["clicks"][0][0] += 1
            else:
                report["decisions"]["issued"] -= 1
        return report


@pytest.mark.parametrize("field", ["tally", "decisions"])
def test_a_segment_that_is_off_by_one_is_noticed(service: Process, field: str) -> None:
    with (
        Lying(service.url) as client,
        temporary_placement(client, USERS, get_policy("thompson-sampling"), 0.2, DEVICES) as target,
    ):
        client.field = field
        report = target.check(client, ExpectedCounts()).differences
    assert len(report) == 2
    assert "of device:mobile" in report[0]
    assert "by device added up" in report[1]


def test_a_lost_answer_is_asked_for_again_by_its_key(service: Process, client: Client) -> None:
    """Within a window that no machine is too slow for."""
    name = _there(client, window=1800.0)
    # one more than there should be: whoever does not ask again asks with new keys, for ever if all of these were lost
    with meddling(service.url, "loses answers", most=16) as meddler:
        report = run_loadtest(meddler.url, placement=name, visitors=3, rounds=15, **ALL_KEYED, seconds=3600.0)
    assert len(meddler.lost) == 15, "an answer was lost that was not asked for again"
    assert report.differences == []
    # each once for the answer that was lost, and once as these visitors do
    assert (report.expected.repeated, report.expected.unanswered) == (30, 0)
    assert client.estimates(name)["decisions"]["issued"] == 15


def test_an_ignored_idempotency_key_is_noticed(service: Process, client: Client) -> None:
    name = _there(client, window=1800.0)
    with meddling(service.url, "strips keys") as meddler:
        report = run_loadtest(meddler.url, placement=name, visitors=3, rounds=15, **ALL_KEYED, seconds=3600.0)
    assert report.exactly_once is False
    assert report.differences == ["15 × same key answered with another decision"]


def test_created_placements_are_removed_also_after_a_failure(service: Process, client: Client) -> None:
    before = {one["name"] for one in client.placements()}
    for failure in (KeyboardInterrupt, ServiceUnreachable, RuntimeError):
        with pytest.raises(failure), temporary_placement(client, USERS, get_policy("thompson-sampling"), 0.2, None):
            raise failure
    # a limit so short that no decision is made in it
    with pytest.raises(ServiceUnreachable, match="made no decision"):
        run_loadtest(service.url, USERS, seconds=1e-9, rate=0.001)
    assert {one["name"] for one in client.placements()} == before


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"policy": get_policy("thompson-sampling")}, "policy is 'thompson-sampling', but placement"),
        ({"window": 1.0}, "window is '1.0', but placement"),
        (
            {"users": MNL(position_bias=[1.0], attractiveness=[0.5, 0.2])},
            "1 slots and 2 items, but placement .* 2 and 3",
        ),
    ],
)
def test_options_that_would_change_an_existing_placement_are_rejected(
    service: Process, client: Client, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        run_loadtest(service.url, placement=_there(client), **more)


def test_a_placement_that_is_not_there(service: Process) -> None:
    with pytest.raises(ServiceProblem, match="nowhere"):
        run_loadtest(service.url, placement="nowhere")


def test_tastes_must_be_named() -> None:
    refused = CliRunner().invoke(app, ["http://127.0.0.1:9"])
    assert isinstance(refused.exception, InvalidInput)
    assert "--problem or --placement" in str(refused.exception)
    with pytest.raises(InvalidInput, match="users"):
        run_loadtest("http://127.0.0.1:9")
