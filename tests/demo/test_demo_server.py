"""`slotwise demo` as a process: it opens, is looked at in a real browser, and ends when it is told to or left alone."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from slotwise.demo.demo_server import has_desktop
from tests.service.browser import Tab, needs_a_browser, opened
from tests.waiting import FOR_EVER, wait_for

COMMAND = [sys.executable, "-c", "from slotwise.cli import main; main()", "demo", "--no-browser"]


class Demo:
    """A demo in a process of its own; whatever it is told in the environment, its store is its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._out = folder / "out"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SLOTWISE_")}
        theirs = {"SLOTWISE_STORE": f"sqlite:///{folder}/theirs.db", "SLOTWISE_SERVER_KEY": "theirs"}
        with open(self._out, "wb") as out:
            self.popen = subprocess.Popen(
                [*COMMAND, *options],
                cwd=folder,
                env={**kept, **theirs, "TMPDIR": str(folder)},
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    @property
    def said(self) -> str:
        return self._out.read_text()

    def url(self) -> str:
        """Where it is, once it says so."""
        address = re.compile(r"^The shop is open at (http://127\.0\.0\.1:\d+)/demo$", re.MULTILINE)
        wait_for(lambda: address.search(self.said) or self.popen.poll() is not None, "the shop to open")
        found = address.search(self.said)
        assert found is not None, self.said
        return found[1]

    def end(self) -> int:
        return self.popen.wait(FOR_EVER)


@contextlib.contextmanager
def demo(folder: Path, *options: str) -> Iterator[Demo]:
    process = Demo(folder, *options)
    try:
        yield process
    finally:
        if process.popen.poll() is None:
            process.popen.kill()
        process.end()


def state(url: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{url}/demo/state", timeout=FOR_EVER).json()
    return found


@pytest.mark.parametrize("told", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_it_ends_on_a_signal_with_one_sentence_and_leaves_nothing_behind(tmp_path: Path, told: signal.Signals) -> None:
    with demo(tmp_path) as process:
        url = process.url()
        wait_for(lambda: state(url)["visitors"] > 20, "visitors")
        assert httpx.get(f"{url}/demo", timeout=FOR_EVER).status_code == 200
        # it does not wait for ever for who has said half of something, and says nothing of it
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port)) as asking:
            asking.sendall(b"POST /v1/outcomes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            process.popen.send_signal(told)
            assert process.end() == 0
        *_, last = process.said.splitlines()
        assert re.fullmatch(r"The shop is closed: [\d,]+ visitors came\.", last), process.said
        assert "Traceback" not in process.said
        assert len(process.said.splitlines()) == 3
    # neither its own store, nor the one that the environment names
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_it_ends_when_it_is_left_alone(tmp_path: Path) -> None:
    with demo(tmp_path, "--minutes", "0.02") as process:
        assert process.end() == 0
        assert process.said.splitlines()[-1].startswith("The shop is closed, as nobody was looking: ")


def test_a_taken_port_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with demo(tmp_path, "--port", str(port)) as refused:
            assert refused.end() == 2
            said = rf"error: port {port} of 127\.0\.0\.1 is in use by another program; \d+ is free: --port \d+\n"
            assert re.fullmatch(said, refused.said), refused.said


def test_a_browser_is_opened_only_where_there_is_a_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not has_desktop()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert has_desktop()
    monkeypatch.delenv("WAYLAND_DISPLAY")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert has_desktop()


def click(tab: Tab, id: str) -> None:
    tab.run(f"document.getElementById({json.dumps(id)}).click()")


def choose(tab: Tab, id: str, value: object) -> None:
    """What a person does to a slider or a menu."""
    control = f"document.getElementById({json.dumps(id)})"
    tab.run(f"{control}.value = {json.dumps(str(value))}; {control}.dispatchEvent(new Event('change'))")


@needs_a_browser
def test_a_viewer_watches_and_changes_the_ground_truth(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    with demo(tmp_path / "demo") as process, opened(tmp_path / "browser") as tab:
        url = process.url()
        tab.call("Runtime.enable")
        tab.open(f"{url}/demo")
        tab.wait_for("document.querySelectorAll('.shelf li').length === 8")
        assert tab.wait_for(
            "/^The learned lists get \\d+.% of the clicks/.test(document.getElementById('state').textContent)"
        )
        # a line for each way of choosing, drawn by the dashboard's charts
        tab.wait_for("document.querySelectorAll('#chart path.line').length === 3")
        # what was learned, and what is true only where that is asked for
        tab.wait_for("document.querySelectorAll('[data-item] .range .dot').length >= 8")
        assert tab.run("document.querySelectorAll('.range .true').length") == 0
        click(tab, "truth")
        assert tab.run("document.querySelectorAll('.range .true').length") == 24
        assert tab.run("document.querySelectorAll('.shelf .right').length") == 8
        # each control does what it says
        choose(tab, "traffic", 5)
        wait_for(lambda: state(url)["visitors_per_second"] == 5, "the slider of the traffic")
        choose(tab, "mobile", 90)
        wait_for(lambda: state(url)["mobile_share"] == 0.9, "the slider of the devices")
        choose(tab, "half-life", "90")
        wait_for(lambda: state(url)["half_life_seconds"] == 90.0, "the menu of the half-life")
        # the first choice is a product that the control order does not show
        assert tab.run("document.getElementById('popular').value") == "teapot"
        choose(tab, "popular", "candle")
        click(tab, "make-popular")
        wait_for(lambda: state(url)["lists"]["desktop"]["best"][0] == "candle", "the candle to be popular")
        click(tab, "swap")
        wait_for(lambda: state(url)["lists"]["desktop"]["best"][3] == "candle", "the slots to be swapped")
        click(tab, "add")
        tab.wait_for("document.querySelector('#learned [data-item=kite]') !== null")
        assert tab.wait_for("document.querySelectorAll('#chart .mark').length === 6")
        # what is refused is said where it was asked for
        choose(tab, "second", 1)
        click(tab, "swap")
        tab.wait_for(
            "document.getElementById('result').textContent === 'second must be another slot than first, got 1'"
        )
        # it fits on a phone
        tab.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
        assert tab.wait_for("document.documentElement.scrollWidth <= 390")
        assert tab.run("[...document.querySelectorAll('.wide')].every(one => one.scrollWidth <= one.clientWidth)")
        assert tab.run("document.querySelector('#pays a').getAttribute('href')") == "/placements/shop"
        # a shop that is closed is said to be
        process.popen.send_signal(signal.SIGINT)
        assert process.end() == 0
        tab.wait_for("document.getElementById('banner').textContent.startsWith('The shop is closed')")
        assert all(request.startswith(f"{url}/") for request in tab.requests if not request.startswith("data:"))
