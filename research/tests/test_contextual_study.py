"""Features where they matter and where they do not, side by side; and the table of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from research import studies
from research.contextual.contextual_study import ContextualSize, compared, run
from slotwise.policies import available_policies
from tests.statistical_assertions import assert_mean_is_below

pytestmark = pytest.mark.usefixtures("interpreting")

#: at most so many times what the best without features loses is lost with them where they do not matter
FACTOR = 2.0


@pytest.mark.long
def test_features_are_worth_having_where_they_matter_and_cost_at_most_twice_where_they_do_not() -> None:
    size = ContextualSize(rounds=250, replications=6)
    all_told = ("ofu-mnl:constants=tuned", "ts-mnl")
    ids = [*all_told, "thompson-sampling:bias=known", "thompson-sampling:bias=known"]
    afresh, own = run(0, ids, size, jobs=1), run(4, ids, size, jobs=1)
    for told in all_told:
        for other in ("thompson-sampling:bias=known", "thompson-sampling:bias=known"):
            assert_mean_is_below(afresh[told], 0.5 * afresh[other])
        assert own[told].mean() < FACTOR * min(own[other].mean() for other in ids if other not in all_told)


def test_the_table_has_policies_with_and_without_features_and_the_default(tmp_path: Path) -> None:
    studies.write("contextual", tmp_path, jobs=1, quick=True, rounds=20)
    text = (tmp_path / "tables.md").read_text()
    for id in compared():
        assert f"| `{id}` |" in text
    assert "| `ofu-mnl` | all features |" in text
    assert "| `thompson-sampling` | features that stay |" in text
    assert "| `toprank` | none |" in text
    assert {id.partition(":")[0] for id in compared()} <= {entry.id for entry in available_policies()}
