"""Kernels come from the cache, and never a stale one. Each check runs a Python of its own on a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

import slotwise
from slotwise.core.random import shuffle
from slotwise.jit import kernel_cache
from tests.waiting import FOR_EVER

PACKAGE = Path(slotwise.__file__).parent

#: all tied, in a shuffled order: select_best is in optimize/top_k.py, and draws its numbers in rng.py
SCRIPT = """
import json, numpy as np
from slotwise.optimize.top_k import select_best
order = np.arange(6)
select_best(np.ones(6), order, 6, np.random.default_rng(1))
print(json.dumps({"order": order.tolist(), "hits": sum(select_best.stats.cache_hits.values())}))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / "slotwise")
    return tmp_path


def _run(script: str, copy: Path, **environment: str) -> Any:
    return json.loads(_done(script, copy, **environment).stdout)


def _done(script: str, copy: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy / "cache"), **environment},
        cwd=copy,
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_second_process_compiles_nothing_and_an_edit_of_a_called_file_is_seen(copy: Path) -> None:
    first = _run(SCRIPT, copy)
    second = _run(SCRIPT, copy)
    assert first["hits"] == 0
    assert second == {"order": first["order"], "hits": 1}

    source = copy / "slotwise" / "core" / "random.py"
    before = source.read_text()
    edited = before.replace("return int(rng.random() * n)", "return n - 1")
    assert edited != before
    source.write_text(edited)
    third = _run(SCRIPT, copy)
    assert third["hits"] == 0
    assert sorted(third["order"]) == list(range(6))
    assert third["order"] != first["order"]


def test_the_same_sources_elsewhere_share_compiled_kernels(
    copy: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Otherwise whatever says that kernels are there would say so of another copy's."""
    first, other = _run(SCRIPT, copy), tmp_path_factory.mktemp("other")
    shutil.copytree(PACKAGE, other / "slotwise")
    # as if installed anew, a day later
    for file in (other / "slotwise").rglob("*.py"):
        os.utime(file, (time.time() + 86_400.0,) * 2)
    assert _run(SCRIPT, other, XDG_CACHE_HOME=str(copy / "cache")) == {"order": first["order"], "hits": 1}


FOREIGN = """
import json, sys, numpy as np
from slotwise import MNL, simulate
from mine import Fixed
users = MNL(position_bias=[1.0], attractiveness=[0.9, 0.1])
print(json.dumps(simulate(users, Fixed, rounds=100, seed=1)["start"].mean))
"""
MINE = """
import numpy as np
from helper import favourite
from slotwise.jit import jit, record
from slotwise.policies import choose, learn

@record
class State:
    ranking: np.ndarray

@choose.register(State)
def _choose(policy, rng):
    policy.ranking[0] = favourite()
    return policy.ranking

@learn.register(State)
def _learn(policy, ranking, clicked):
    pass

def start(setting):
    return State(ranking=np.zeros(1, np.int64))

Fixed = start
"""


def test_a_users_own_compiled_policy_is_never_stale(copy: Path) -> None:
    (copy / "mine.py").write_text(MINE)
    helper = "from slotwise.jit import jit\n\n@jit\ndef favourite():\n    return {}\n"
    (copy / "helper.py").write_text(helper.format(0))
    assert _run(FOREIGN, copy) == 0.0
    (copy / "helper.py").write_text(helper.format(1))
    assert _run(FOREIGN, copy) > 1.0


def test_a_missing_writable_folder_is_reported_once_and_does_no_harm(copy: Path) -> None:
    nowhere = copy / "a file"
    nowhere.write_text("")
    script = "import tempfile\ntempfile.tempdir = '/dev/null/x'\n" + SCRIPT
    done = _done(script, copy, XDG_CACHE_HOME=str(nowhere), HOME=str(nowhere))
    assert sorted(json.loads(done.stdout)["order"]) == list(range(6))
    assert done.stderr.count("no folder for compiled kernels is safe and writable") == 1


def _prepare(base: Path, mode: int, owner: int | None = None) -> Path:
    """Make `base` and the folder of kernels in it, the latter with this mode and owner."""
    folder = base / f"kernels-{kernel_cache.kernel_hash()}"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    if owner is not None:
        os.chown(folder, owner, -1)
    return folder


@pytest.mark.parametrize(("mode", "is_taken"), [(0o700, True), (0o755, True), (0o770, False), (0o1777, False)])
def test_kernels_are_loaded_only_from_a_folder_that_no_other_user_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, is_taken: bool
) -> None:
    folder = _prepare(tmp_path / "cache", mode)
    monkeypatch.setattr(kernel_cache, "candidate_folders", lambda: [folder.parent])
    assert kernel_cache.cache_folder.__wrapped__() == (str(folder) if is_taken else None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_kernels_in_the_folder_of_another_user_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _prepare(tmp_path / "cache", 0o755, owner=65534)
    monkeypatch.setattr(kernel_cache, "candidate_folders", lambda: [folder.parent])
    assert kernel_cache.cache_folder.__wrapped__() is None


def test_a_link_to_a_folder_of_kernels_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _prepare(tmp_path / "elsewhere", 0o700)
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / folder.name).symlink_to(folder)
    monkeypatch.setattr(kernel_cache, "candidate_folders", lambda: [tmp_path / "cache"])
    assert kernel_cache.cache_folder.__wrapped__() is None


@pytest.mark.parametrize(("mode", "is_taken"), [(0o1777, True), (0o777, False)])
def test_a_shared_parent_of_the_kernels_must_be_sticky(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, is_taken: bool
) -> None:
    folder = _prepare(tmp_path / "cache", 0o700)
    folder.parent.chmod(mode)
    monkeypatch.setattr(kernel_cache, "candidate_folders", lambda: [folder.parent])
    assert kernel_cache.cache_folder.__wrapped__() == (str(folder) if is_taken else None)


def test_a_full_disk_costs_the_kernels_and_nothing_else(copy: Path) -> None:
    full = """
from slotwise.jit.cache_files import KernelFiles
def save(self, key, data):
    raise OSError(28, "No space left on device")
KernelFiles.save = save
"""
    after = "from slotwise.jit.kernel_cache import everything_was_saved; assert not everything_was_saved()\n"
    found = _run(full + SCRIPT + after, copy)
    assert sorted(found["order"]) == list(range(6))
    assert _run(SCRIPT, copy)["hits"] == 0


def test_numbas_own_setting_is_left_alone(copy: Path) -> None:
    script = "import json, numba, slotwise.core.random; print(json.dumps(numba.config.CACHE_DIR))"
    assert _run(script, copy) == ""
    chosen = str(copy / "elsewhere")
    assert _run(script, copy, NUMBA_CACHE_DIR=chosen) == chosen
    assert [folder.name.partition("-")[0] for folder in Path(chosen).iterdir()] == ["kernels"]


def test_numbas_setting_may_change_while_a_kernel_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread might: kernels still go into their own folder, and not into whichever one is worked in."""
    kernel: Any = shuffle
    for setting in ("", "elsewhere"):
        monkeypatch.setattr(config, "CACHE_DIR", setting)
        found = kernel_cache._InVersion.from_function(kernel.py_func, kernel.py_func.__code__.co_filename)
        assert found is not None
        assert Path(found.get_cache_path()).is_relative_to(str(kernel_cache.cache_folder()))


def test_kernels_of_versions_long_unused_are_dropped(tmp_path: Path) -> None:
    old, recent = tmp_path / "kernels-old", tmp_path / "kernels-recent"
    for folder in (old, recent):
        folder.mkdir()
        (folder / "kernel.nbc").write_bytes(b"x")
    a_while_ago = time.time() - 31 * 86_400
    os.utime(old, (a_while_ago, a_while_ago))
    kernel_cache._drop_unused(tmp_path)
    assert [folder.name for folder in tmp_path.iterdir()] == ["kernels-recent"]


KERNEL = "from slotwise.jit import jit\n"


def test_the_hash_sees_names_and_contents(copy: Path) -> None:
    hashes = {kernel_cache.kernel_hash(copy / "slotwise")}
    (copy / "slotwise" / "new.py").write_text(KERNEL)
    hashes.add(kernel_cache.kernel_hash(copy / "slotwise"))
    (copy / "slotwise" / "new.py").write_text(KERNEL + "x = 1")
    hashes.add(kernel_cache.kernel_hash(copy / "slotwise"))
    (copy / "slotwise" / "new.py").rename(copy / "slotwise" / "newer.py")
    hashes.add(kernel_cache.kernel_hash(copy / "slotwise"))
    assert len(hashes) == 4


def test_the_hash_sees_constants_wherever_they_come_from(copy: Path) -> None:
    package = copy / "slotwise"
    (package / "kernel.py").write_text(KERNEL + "from slotwise.near import (\n    one,\n    LIMIT,\n)\n")
    (package / "near.py").write_text("from slotwise.far import LIMIT\none = 1\n")
    (package / "far.py").write_text("LIMIT = 1\n")
    before = kernel_cache.kernel_hash(package)
    (package / "far.py").write_text("LIMIT = 2\n")
    assert kernel_cache.kernel_hash(package) != before


def test_the_hash_ignores_files_without_kernels(copy: Path) -> None:
    before = kernel_cache.kernel_hash(copy / "slotwise")
    for path in (
        "cli/command_app.py",
        "drawing.py",
        "checks.py",
        "ranker/ranker.py",
        "simulation/plot.py",
        "__init__.py",
    ):
        with (copy / "slotwise" / path).open("a") as file:
            file.write("\nx = 1\n")
    assert kernel_cache.kernel_hash(copy / "slotwise") == before


@pytest.mark.parametrize("seconds", [0.1, 0.5, 1.0])
def test_control_c_waits_for_the_compiler_and_then_interrupts(copy: Path, seconds: float) -> None:
    """Asked while everything is still to be compiled, it ends with KeyboardInterrupt and nothing else."""
    script = (
        "import sys\n"
        "from slotwise import MNL, simulate\n"
        "users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])\n"
        "try:\n"
        "    print('compiling', flush=True)\n"
        "    simulate(users, 'epoch-ucb', rounds=10**12)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy / "cache")},
        cwd=copy,
        stdout=subprocess.PIPE,
        text=True,
    )
    with running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "compiling\n"
            time.sleep(seconds)
            running.send_signal(signal.SIGINT)
            assert running.communicate(timeout=FOR_EVER)[0] == "interrupted\n"
        finally:
            running.kill()
