"""The study of judgements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from research.judgement_study import ndcg, table
from slotwise.core.errors import UnreadableFile
from slotwise.judgements import CellCounts


def test_ndcg_of_a_known_order_and_of_ties() -> None:
    counts = CellCounts(
        ("q", "r"),
        np.ones(2),
        np.array([0, 0, 0, 1]),
        ("a", "b", "c", "a"),
        np.ones((1, 4)),
        np.zeros((1, 4)),
        {},
    )
    labels = {("q", "a"): 2, ("q", "b"): 1, ("r", "a"): 0}
    best = 3.0 + 1.0 / np.log2(3.0)
    found = ndcg(np.array([1.0, 2.0, 9.0, 0.0]), counts, labels)
    assert found[0] == pytest.approx((1.0 + 3.0 / np.log2(3.0)) / best)
    assert np.isnan(found[1])
    assert ndcg(np.zeros(4), counts, labels)[0] == pytest.approx((2.0 + 2.0 / np.log2(3.0)) / best)


def test_table_of_a_small_log(tmp_path: Path) -> None:
    """Clicks are on the relevant document, wherever it is shown."""
    lines = ["page\tsession\tquery\tdocuments\tclicks"]
    for page in range(120):
        documents = ["a", "b", "c"] if page % 3 else ["b", "a", "c"]
        lines.append(f"{page}\t{page}\t{page % 4}\t{' '.join(documents)}\t{'a' if page % 2 else ''}")
    (tmp_path / "pages.tsv").write_text("\n".join(lines) + "\n")
    labels = [
        f"{query}\t{document}\t{label}" for query in range(4) for document, label in (("a", 3), ("b", 1), ("c", 0))
    ]
    (tmp_path / "labels.tsv").write_text("query\tdocument\trelevance\n" + "\n".join(labels) + "\n")
    text = table(tmp_path)
    judged = next(line for line in text.splitlines() if "`slotwise judge` |" in line)
    assert judged.split("|")[4].strip() == "1.000"
    (tmp_path / "labels.tsv").unlink()
    with pytest.raises(UnreadableFile, match=r"labels\.tsv"):
        table(tmp_path)
