"""Simulations on a real Dask cluster and a real Ray cluster, whose workers are processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
import pytest

from slotwise import MNL, simulate
from slotwise.core.errors import InvalidInput
from slotwise.simulation import cluster
from slotwise.simulation.cluster import on_cluster
from tests.commands import COMMAND, slotwise
from tests.service.process import free_port
from tests.waiting import FOR_EVER, wait_for

ROOT = Path(__file__).parents[2]
SIMULATE = ["simulate", "--problem", "a", "--policy", "epoch-ucb", "--rounds", "500", "--replications", "4", "--json"]
USERS = MNL(position_bias=[1.0, 0.6], attractiveness=[0.3, 0.5, 0.1])


@pytest.fixture(scope="module")
def dask() -> Iterator[str]:
    """The address of a cluster of two workers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import LocalCluster

        started = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with started:
        yield started.scheduler_address.replace("tcp://", "dask://")


@pytest.mark.xdist_group("dask")
def test_a_cluster_gives_the_numbers_of_this_machine(dask: str) -> None:
    alone = simulate(USERS, "epoch-ucb", rounds=2_000, replications=6, seed=4, jobs=1)["epoch-ucb"]
    with on_cluster(dask):
        together = simulate(USERS, "epoch-ucb", rounds=2_000, replications=6, seed=4)["epoch-ucb"]
    assert np.array_equal(alone.regret, together.regret)
    for mine, theirs in zip(alone.tallies, together.tallies, strict=True):
        assert np.array_equal(mine.clicks, theirs.clicks)
        assert np.array_equal(mine.passes, theirs.passes)


@pytest.mark.xdist_group("dask")
def test_the_replications_run_on_the_workers(dask: str) -> None:
    from distributed import Client

    with Client(dask.replace("dask://", "tcp://")) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        with on_cluster(dask):
            places = set(joblib.Parallel(n_jobs=-1)(joblib.delayed(_process)() for _ in range(20)))
    assert len(places) == 2
    assert _process() not in places


def _process() -> int:
    return os.getpid()


@pytest.mark.xdist_group("dask")
def test_the_command_simulates_on_a_cluster(dask: str) -> None:
    alone = json.loads(slotwise(*SIMULATE, "--jobs", "1").stdout)
    together = json.loads(slotwise(*SIMULATE, "--cluster", dask).stdout)
    assert _without_times(alone) == _without_times(together)


def _without_times(results: object) -> object:
    if isinstance(results, dict):
        return {name: _without_times(value) for name, value in results.items() if "second" not in name}
    return [_without_times(value) for value in results] if isinstance(results, list) else results


@pytest.mark.long
@pytest.mark.xdist_group("dask")
def test_the_paper_is_the_same_on_a_cluster(dask: str, tmp_path: Path) -> None:
    for name, options in {"alone": (), "together": ("--cluster", dask)}.items():
        ended = slotwise("paper", "--quick", "--problem", "a", "--out", str(tmp_path / name), *options)
        assert ended.returncode == 0, ended.stderr
    for table in sorted((tmp_path / "alone").glob("*.csv")):
        assert table.read_text() == (tmp_path / "together" / table.name).read_text()
    assert [*(tmp_path / "alone").glob("*.csv")]


@pytest.fixture
def ray(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a cluster with two workers, and the environment in which Python finds Ray."""
    packages = tmp_path / "packages"
    pins = ROOT / "requirements-ray.txt"
    install = ("pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(pins), "--target", str(packages))
    subprocess.run([sys.executable, "-m", *install], check=True)
    environment = {**os.environ, "PYTHONPATH": str(packages), "RAY_USAGE_STATS_ENABLED": "0"}
    port = free_port()
    # short, as the paths of sockets must be
    folder = tempfile.mkdtemp(prefix="ray")
    options = {
        "--port": free_port(),
        "--ray-client-server-port": port,
        "--node-ip-address": "127.0.0.1",
        "--num-cpus": 2,
        "--include-dashboard": "false",
        "--temp-dir": folder,
        # any free ports
        "--min-worker-port": 0,
        "--max-worker-port": 0,
    }
    start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    start += [str(part) for option in options.items() for part in option]
    head = subprocess.Popen(start, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: head.poll() is not None or _listens(port), "Ray")
        yield f"ray://127.0.0.1:{port}", environment
    finally:
        head.terminate()
        head.wait(FOR_EVER)
        shutil.rmtree(folder, ignore_errors=True)


def _listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.long
def test_ray_gives_the_numbers_of_this_machine(ray: tuple[str, dict[str, str]]) -> None:
    address, environment = ray
    ended = subprocess.run(
        [str(COMMAND), *SIMULATE, "--cluster", address], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    alone = json.loads(slotwise(*SIMULATE, "--jobs", "1").stdout)
    assert _without_times(json.loads(ended.stdout)) == _without_times(alone)


def test_without_an_address_nothing_changes() -> None:
    with on_cluster(None):
        assert simulate(USERS, "epoch-ucb", rounds=10, replications=1)["epoch-ucb"].regret.shape[0] == 1


@pytest.mark.parametrize("address", ["tcp://a:1", "dask://a", "dask://", "ray:a:1", "dask://a:1/b", ""])
def test_another_address_is_refused(address: str) -> None:
    with (
        pytest.raises(InvalidInput, match=r"cluster must be dask://HOST:PORT or ray://HOST:PORT, got"),
        on_cluster(address),
    ):
        pass


def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"dask://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InvalidInput, match=f"cluster '{address}' cannot be reached"), on_cluster(address):
            pass


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(
            InvalidInput, match=r"cluster 'ray://a:1' needs the package ray\[client\], .* pip install 'ray\[client\]'"
        ),
        on_cluster("ray://a:1"),
    ):
        pass
