"""One history on PostgreSQL whose connection is cut once, from which it must recover."""

from __future__ import annotations

from slotwise.core.errors import CommitInDoubt, StoreUnavailable
from slotwise.service.storage.postgresql import PostgresqlStore
from tests.service.fault_points.cutting_proxy import CuttingProxy
from tests.service.fault_points.sqlite_points import Lost
from tests.service.fault_points.store_histories import HISTORIES, State, Step, state


def survive_cut(name: str, wanted: list[State], url: str, proxy: CuttingProxy, messages: int) -> bool:
    """Whether the history was cut; its database is empty."""
    store = PostgresqlStore(url)
    proxy.cut_after(messages)
    for done, step in enumerate(HISTORIES[name]):
        _do(store, proxy, step, wanted, done)
    was_cut = proxy.has_cut
    store.close()
    return was_cut


def _do(store: PostgresqlStore, proxy: CuttingProxy, step: Step, wanted: list[State], done: int) -> None:
    may_be_there = False
    for _ in range(3):
        try:
            step(store)
            break
        except CommitInDoubt:
            may_be_there = True
        except StoreUnavailable:
            pass
        found = _state(store, proxy)
        if found == wanted[done + 1] and may_be_there:
            return
        if found != wanted[done]:
            raise Lost(f"a refused step {done} left something")
    if _state(store, proxy) != wanted[done + 1]:
        raise Lost(f"an acknowledged step {done} is not there")


def _state(store: PostgresqlStore, proxy: CuttingProxy) -> State:
    proxy.is_counting = False
    try:
        return state(store)
    except StoreUnavailable:
        # the connection was cut by the last message, which the store has only noticed now
        return state(store)
    finally:
        proxy.is_counting = True
