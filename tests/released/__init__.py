"""Files that a version wrote, and the numbers in them: later versions have to read them.

`python -m tests.released` writes those of the version at hand. The files of a version that is out never change: if a
test on them fails, the code needs an upgrade of older files, not the test.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from slotwise import Ranker, __version__, logs
from slotwise.service.runtime.store_maintenance import export_placement, import_placement
from slotwise.service.storage import open_store
from slotwise.service.storage.sqlite import APPLICATION_ID
from tests.service.serving import Clock, serving

FOLDER = Path(__file__).parent
STORE, RANKER, PLACEMENT, FIT, NUMBERS = "store.sql", "ranker.npz", "placement.json", "fit.json", "numbers.json"
DEFINITION: dict[str, Any] = {
    "slots": 2,
    "items": ["tea", {"id": "coffee", "value": 2.5}, "juice", "milk"],
    "window_seconds": 60.0,
    "holdout": 0.2,
    "segments": {"device": ["phone", "desk"]},
}
VIEWS = 40
COUNTED = ("issued", "pending", "final", "clicked", "no_click", "not_shown", "late")


def released_versions() -> list[str]:
    """The versions whose files are here."""
    return sorted(path.name for path in FOLDER.iterdir() if (path / NUMBERS).is_file())


def write_files(folder: Path, temporary: Path) -> None:
    """Write a store, a ranker, a placement export and a fit, and the numbers that were read back from them."""
    folder.mkdir(parents=True, exist_ok=True)
    pending = _write_store(temporary / "store.db", folder)
    _write_ranker(folder / RANKER)
    _write_fit(folder / FIT, temporary)
    numbers = {"version": __version__, "pending": pending}
    (folder / NUMBERS).write_text(json.dumps(numbers))
    numbers |= read_files(folder, temporary / "read")
    (folder / NUMBERS).write_text(json.dumps(numbers, indent=1, sort_keys=True) + "\n")


def read_files(folder: Path, temporary: Path) -> dict[str, Any]:
    """The numbers that today's code finds in the files of a version."""
    temporary.mkdir(parents=True, exist_ok=True)
    pending = json.loads((folder / NUMBERS).read_text())["pending"]
    return {
        "store": _read_store(folder / STORE, temporary, pending),
        "ranker": _read_ranker(folder / RANKER),
        "placement": _read_placement(folder / PLACEMENT, temporary),
        "fit": _read_fit(folder / FIT),
    }


def _write_store(database: Path, folder: Path) -> str:
    """Decisions with every outcome; returns the id of one that has none yet."""
    url = f"sqlite:///{database}"
    with serving(url) as client:
        client.define("home", **DEFINITION)
        for view in range(VIEWS):
            decision = client.decide("home", context={"device": ("phone", "desk")[view // 3 % 2]})
            outcomes: list[dict[str, Any]] = [
                {"clicked": decision["items"][view // 4 % 2]},
                {"clicked": None},
                {"shown": False},
            ]
            if view % 4 < len(outcomes):
                assert client.report(decision, **outcomes[view % 4]).status_code == 200
        client.settle("home")
        pending: str = client.decide("home")["id"]
    (folder / PLACEMENT).write_text(export_placement(url, "home"))
    with closing(sqlite3.connect(database)) as connection:
        (folder / STORE).write_text("\n".join(_dump(connection)) + "\n")
    return pending


def _dump(connection: sqlite3.Connection) -> Iterator[str]:
    for pragma in ("application_id", "user_version"):
        yield f"PRAGMA {pragma} = {connection.execute(f'PRAGMA {pragma}').fetchone()[0]};"
    yield from connection.iterdump()


def _read_store(script: Path, temporary: Path, pending: str) -> dict[str, Any]:
    """What a service finds in the store, before and after an outcome of a decision that the old version made."""
    database = temporary / "store.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(script.read_text())
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    with serving(f"sqlite:///{database}", clock=_later()) as client:
        before = _counts(client.estimates("home"))
        definition = client.get("/v1/placements/home").json()
        assert client.put(f"/v1/decisions/{pending}/outcome", json={"clicked": None}).status_code == 200
        after = _counts(client.settle("home"))
        assert len(client.decide("home")["items"]) == DEFINITION["slots"]
    return {"before": before, "after": after, "definition": {name: definition[name] for name in DEFINITION}}


def _later() -> Clock:
    """The clock of a service that starts while the pending decision can still be reported."""
    clock = Clock()
    clock.now += 90.0
    return clock


def _counts(estimates: dict[str, Any]) -> dict[str, Any]:
    """Later versions may count more."""
    return {"tally": estimates["tally"], "decisions": {name: estimates["decisions"][name] for name in COUNTED}}


def _write_ranker(path: Path) -> None:
    ranker = Ranker(["tea", "coffee", "juice"], slots=2, seed=1)
    ranker.set_value("coffee", 2.5)
    for view in range(VIEWS):
        ranking = ranker.rank(segment=("phone", "desk")[view % 2])
        ranker.observe(ranking, clicked=ranking.items[0] if view % 3 else None)
    ranker.rank()
    ranker.retire("juice")
    ranker.save(path)


def _read_ranker(path: Path) -> dict[str, Any]:
    ranker = Ranker.load(path)
    tally = ranker.tally()
    return {
        "items": list(ranker.items),
        "retired": list(ranker.retired),
        "segments": list(ranker.segments),
        "pending": ranker.pending,
        "clicks": tally.clicks.tolist(),
        "passes": tally.passes.tolist(),
        "phone": ranker.tally("phone").clicks.tolist(),
    }


def _read_placement(path: Path, temporary: Path) -> dict[str, Any]:
    url = f"sqlite:///{temporary}/imported.db"
    open_store(url).close()
    import_placement(url, path)
    with serving(url, clock=_later()) as client:
        return _counts(client.estimates("home"))


def _write_fit(path: Path, temporary: Path) -> None:
    log = temporary / "clicks.csv"
    with open(log, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["impression", "slot", "item", "clicked"])
        for view in range(400):
            order = ("abc", "bca", "cab")[view % 3]
            clicked = (1, 1, 2, 1, 0, 3, 0, 0)[view % 8]
            writer.writerows([view, slot, item, int(slot == clicked)] for slot, item in enumerate(order, start=1))
    logs.save_fits([logs.fit(log)], path)


def _read_fit(path: Path) -> dict[str, Any]:
    (stored,) = logs.load_fits(path)
    return {
        "items": list(stored.item_ids),
        "attractiveness": [round(value, 6) for value in stored.attractiveness.tolist()],
        "position_bias": [round(value, 6) for value in stored.position_bias.tolist()],
    }
