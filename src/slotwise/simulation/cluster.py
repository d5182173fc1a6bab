"""Replications on the machines of a cluster, through joblib's own backends for Dask and Ray."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import joblib

from slotwise.core.errors import InvalidInput

#: longest wait for the scheduler of a cluster to answer
CONNECT_SECONDS = 10.0


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Run the replications of the block on a cluster; the numbers are those of a local run.

    Parameters
    ----------
    address
        `dask://HOST:PORT` of a Dask scheduler, `ray://HOST:PORT` of a Ray head node, or None for this machine.
        The machines of the cluster need the same version of slotwise.
    """
    if address is None:
        yield
        return
    found = re.fullmatch(r"(dask|ray)://([^/\s:]+:\d+)", address)
    if found is None:
        raise InvalidInput(f"cluster must be dask://HOST:PORT or ray://HOST:PORT, got {address!r}")
    with BACKENDS[found[1]](address, found[2]), joblib.parallel_config(backend=found[1]):
        yield


@contextmanager
def _dask(address: str, scheduler: str) -> Iterator[None]:
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise InvalidInput(_missing(address, "distributed")) from None
    try:
        client = Client(f"tcp://{scheduler}", timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError) as problem:
        raise InvalidInput(f"cluster {address!r} cannot be reached: {problem}") from None
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise InvalidInput(f"cluster {address!r} has no workers: start some with `dask worker {scheduler}`")
        yield


@contextmanager
def _ray(address: str, head: str) -> Iterator[None]:  # noqa: ARG001
    try:
        import grpc  # noqa: F401 - without it Ray's client refuses to connect
        import ray
        from ray.util.joblib import register_ray
    except ModuleNotFoundError:
        raise InvalidInput(_missing(address, "ray[client]")) from None
    try:
        ray.init(address=address, log_to_driver=False)
    except ConnectionError as problem:
        raise InvalidInput(f"cluster {address!r} cannot be reached: {problem}") from None
    register_ray()
    try:
        yield
    finally:
        ray.shutdown()


def _missing(address: str, package: str) -> str:
    return f"cluster {address!r} needs the package {package}, which is not installed: pip install '{package}'"


BACKENDS: dict[str, Callable[[str, str], AbstractContextManager[None]]] = {"dask": _dask, "ray": _ray}
