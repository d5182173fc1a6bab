"""What a person at a terminal is told, and that programs are told as before."""

from __future__ import annotations

import json
import re
import shlex
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from slotwise.service.http.startup_banner import greeting
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.service_settings import Settings
from tests.service.process import Process, free_port
from tests.service.terminal import at_a_terminal
from tests.waiting import FOR_EVER, wait_for

KEY = "s3cret"
DEMO = "[placements.demo]\nslots = 2\nitems = ['tea', 'coffee', 'juice']\n"


def commands(text: str) -> list[list[str]]:
    return [shlex.split(line) for line in text.splitlines() if line.startswith("  curl ")]


def send(command: list[str]) -> Any:
    """What curl would, where there is one."""
    program, _, method, url, *data = command
    assert program == "curl"
    answer = httpx.request(method, url, content=data[1] if data else None, timeout=FOR_EVER)
    assert answer.is_success, answer.text
    return answer.json()


def test_a_terminal_shows_the_addresses_and_the_next_steps(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text(DEMO)
    with at_a_terminal(["serve", "--config", "serve.toml", "--port", "0"], tmp_path) as terminal:
        said = terminal.wait_for("ready (placements 1)")
        url = re.search(r"slotwise is at (http://127\.0\.0\.1:\d+)\n", said)
        assert url is not None, said
        assert f"  dashboard  {url[1]}/\n" in said
        assert f"the file {tmp_path.resolve()}/slotwise.db\n" in said
        assert "API key    none, so only requests of this machine are allowed" in said
        assert "1 placement: demo. There are no decisions yet" in said
        assert '{"time"' not in said
        assert httpx.get(f"{url[1]}/", timeout=FOR_EVER).status_code == 200
        # the lines to copy work as they stand
        decide, report = commands(said)
        decision = send(decide)
        assert len(decision["items"]) == 2
        told = [word.replace("TOKEN", decision["token"]).replace("ITEM", decision["items"][0]) for word in report]
        assert send(told) == {"duplicate": False}
        assert terminal.interrupt() == 0
        assert "stopped" in terminal.text
        assert "Traceback" not in terminal.text
    with at_a_terminal(["serve", "--config", "serve.toml", "--port", "0"], tmp_path) as terminal:
        assert "1 decisions so far in demo" in terminal.wait_for("ready")


def test_a_taken_port_is_reported_with_a_free_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with at_a_terminal(["serve", "--port", str(port)], tmp_path) as terminal:
            assert terminal.end() == 2
            found = re.fullmatch(
                rf"error: port {port} of 127\.0\.0\.1 is in use by another program; (\d+) is free: --port (\d+)\n",
                terminal.text,
            )
            assert found is not None, terminal.text
            assert found[1] == found[2] != str(port)


def test_a_foreign_address_is_reported_in_one_line(tmp_path: Path) -> None:
    with at_a_terminal(["serve", "--host", "192.0.2.1"], tmp_path, SLOTWISE_SERVER_KEY=KEY) as terminal:
        assert terminal.end() == 2
        assert terminal.text.startswith("error: host '192.0.2.1' and port 8000 cannot be served: ")
        assert terminal.text.count("\n") == 1


def test_programs_get_json_lines(tmp_path: Path) -> None:
    process = Process(tmp_path, f"sqlite:///{tmp_path}/store.db", free_port())
    try:
        wait_for(lambda: '"event": "ready"' in process.log.read_text(), "readiness")
        lines = [json.loads(line) for line in process.log.read_text().splitlines()]
        assert any("SLOTWISE_SERVER_KEY is not set" in line["event"] for line in lines)
    finally:
        process.stop()


@pytest.mark.parametrize("placements", [{}, {"home": 0}, {"a": 3, "b": 1_000, "c": 2, "d": 0, "e": 0, "f": 0}])
def test_neither_the_key_nor_the_store_password_is_printed(placements: dict[str, int]) -> None:
    settings = Settings(store=SecretStr(f"postgresql://me:{KEY}@db.example:5433/clicks"), server_key=SecretStr(KEY))
    said = greeting(settings, 8000, placements)
    assert KEY not in said
    assert "store      postgresql://db.example:5433/clicks\n" in said
    for command in commands(said):
        assert "outcomes" in command[3] or "Authorization: Bearer $SLOTWISE_SERVER_KEY" in command


def test_the_suggested_placement_is_valid() -> None:
    ((*_, body),) = commands(greeting(Settings(), 8000, {}))
    assert PlacementDefinition.model_validate_json(body).slots == 2
