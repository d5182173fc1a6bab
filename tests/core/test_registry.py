"""Plug-ins: a policy of another distribution is simulated, ranks and serves; one that cannot be imported is named."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slotwise import MNL, Ranker, get_policy, simulate
from slotwise.core.errors import PluginError
from slotwise.core.registry import import_plugins
from tests.commands import slotwise
from tests.service.serving import serving

ROOT = Path(__file__).parents[2]
GROUP = "slotwise.policies"


def _install(folder: Path, entry_points: str, **modules: str) -> None:
    """Write the files of a distribution: its modules, its metadata and its entry points."""
    information = folder / "tiny_bandits-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-bandits\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{GROUP}]\n{entry_points}\n")
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The id of a policy that a distribution on `sys.path` registers: the example of CONTRIBUTING.md."""
    (source,) = re.findall(
        r"```python\n(.*?@register\(\n    \"epsilon-greedy\".*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL
    )
    source = source[source.index('"""ε-greedy: ') :].replace('"epsilon-greedy"', '"tiny-greedy"')
    points = "broken = tiny_broken\ntiny-greedy = tiny_greedy"
    _install(tmp_path, points, tiny_greedy=source, tiny_broken="import no_such_module\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.warns(UserWarning, match="tiny-bandits") as warned:
        import_plugins(GROUP)
    assert len(warned) == 1, [str(one.message) for one in warned]
    yield "tiny-greedy"
    sys.modules.pop("tiny_greedy", None)


@pytest.mark.usefixtures("interpreting")
def test_a_policy_of_another_distribution_is_used_like_one_of_the_package(tiny: str, tmp_path: Path) -> None:
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.4, 0.3, 0.2])
    assert simulate(users, tiny, rounds=50, jobs=1)[tiny].mean >= 0.0
    assert len(Ranker(["a", "b", "c"], 2, policy=tiny, position_bias=[1.0, 0.5]).rank().items) == 2
    assert f"\n{tiny} " in slotwise("policies").stdout
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        definition = {"slots": 2, "items": ["a", "b", "c"], "policy": tiny, "position_bias": [1.0, 0.5]}
        assert client.put("/v1/placements/home", json=definition).status_code == 201
        assert len(client.post("/v1/placements/home/decisions", json={}).json()["items"]) == 2


def test_a_plugin_that_cannot_be_imported_is_named_with_its_distribution(tiny: str) -> None:
    assert get_policy(tiny).name == "ε-greedy"
    with pytest.raises(
        PluginError, match=r"entry point 'broken' = 'tiny_broken' of group .* in distribution 'tiny-bandits' cannot be"
    ):
        get_policy("broken")
