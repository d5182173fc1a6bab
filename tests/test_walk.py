"""CONTRIBUTING's walk through the code: every module that it names is on the way of a real call."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

# imported before a trace begins: the bodies of its classes would count as calls
import slotwise.logs as _logs  # noqa: F401
from slotwise.jit.background_compile import SETTING
from tests.commands import slotwise
from tests.service.serving import serving
from tests.snapshots import write_log
from tests.traces import tracing

WALK = re.compile(r"^### (.+?)\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
HOP = re.compile(r"^- `([\w/]+)\.py` ", re.MULTILINE)
#: lists are drawn ahead, at most so many at once: one of as many decisions draws some
DECISIONS = 20


def _walks() -> dict[str, list[str]]:
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    return {title: HOP.findall(hops) for title, hops in WALK.findall(page) if HOP.search(hops)}


def _decide(folder: Path) -> list[str]:
    with tracing() as trace, serving(f"sqlite:///{folder}/store.db") as client:
        client.define()
        return trace.modules_of(lambda: [client.decide() for _ in range(DECISIONS)])


def _report(folder: Path) -> list[str]:
    with tracing() as trace, serving(f"sqlite:///{folder}/store.db") as client:
        client.define()
        decision = client.decide()

        def report_and_wait() -> None:
            client.report(decision, clicked=decision["items"][0])
            client.settle()
            client.wait_for_snapshot()

        return trace.modules_of(report_and_wait)


def _fit(folder: Path) -> list[str]:
    write_log(folder / "clicks.csv")
    return _command("fit", "clicks.csv", "--out", "report", folder=folder)


def _simulate(folder: Path) -> list[str]:
    return _command("simulate", "--problem", "a", "--policy", "epoch-ucb", "--rounds", "50", folder=folder)


def _command(*arguments: str, folder: Path) -> list[str]:
    with tracing() as trace:
        return trace.modules_of(lambda: slotwise(*arguments, cwd=folder))


CALLS: dict[str, Callable[[Path], list[str]]] = {
    "A decision": _decide,
    "An outcome": _report,
    "A log": _fit,
    "A simulation": _simulate,
}


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("title", CALLS)
def test_every_module_of_the_walk_is_on_the_way(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "never")
    modules = CALLS[title](tmp_path)
    missing = [hop for hop in _walks()[title] if f"slotwise.{hop.replace('/', '.')}" not in modules]
    assert missing == []
