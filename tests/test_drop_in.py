"""One file is all it takes: CONTRIBUTING's examples are dropped into a copy, and the tests of everything find them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slotwise.jit.kernel_cache import kernel_hash
from tests.kernels import share_kernels

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"`src/slotwise/(\w+)/(\w+\.py)`[^`]*(?:`[^`]+`[^`]*)*?```python\n(.*?)```", re.DOTALL)

#: what everything registered has to pass
CONFORMANCE = [
    "tests/policies/test_conformance.py",
    "tests/policies/test_update_from_tally.py",
    "tests/policies/test_goals.py",
    "tests/click_models/test_conformance.py",
    "tests/estimators/uncertainty/test_intervals.py",
    "tests/estimators/test_likelihoods.py",
    "tests/logs/fitting/test_click_rate.py",
    "tests/test_docs.py",
    "tests/policies/test_policy_registry.py",
    "tests/ranker/test_learner.py::test_every_policy_obeys_the_rules_of_each_decision",
    "tests/ranker/test_learner.py::test_two_halves_of_counts_equal_all_counts",
]
#: of these files, what is about what is new: they also test estimators and models by name, which are as they were
BY_NAME = "test_intervals or test_likelihoods or test_click_rate"
#: there, what goes through all that is registered without naming it
ALL_TOGETHER = ("no_other_estimate_is_more_likely", "compiled_kernels_give_exactly")


@pytest.mark.parametrize(
    ("tests", "which"),
    [
        (CONFORMANCE, "not long"),
        # what each policy but the default one has to be compiled for, once more
        pytest.param(CONFORMANCE, "long", marks=pytest.mark.long),
        pytest.param(["tests/cli"], "", marks=pytest.mark.long),
    ],
    ids=["conformance", "conformance at length", "command line"],
)
def test_a_file_of_each_kind_is_all_it_takes(tests: list[str], which: str, tmp_path: Path) -> None:
    # with all that the pages lead to
    for folder in ("src", "tests", "docs", "research", "client", "deploy"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("node_modules"))
    for file in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    examples = EXAMPLE.findall((ROOT / "CONTRIBUTING.md").read_text())
    assert {folder for folder, _, _ in examples} == {"policies", "estimators", "click_models"}
    dropped, ids = [], []
    for folder, name, code in examples:
        file = tmp_path / "src" / "slotwise" / folder / name
        file.write_text(code)
        dropped.append(str(file.relative_to(tmp_path)))
        ids += re.findall(r'@register\(\s*"([\w-]+)"', code)
    assert len(ids) == len(examples) == 3
    # all but the new files are the same, and so is what was compiled of them
    share_kernels(tmp_path / "cache" / "slotwise" / f"kernels-{kernel_hash(tmp_path / 'src' / 'slotwise')}")
    tried = _pytest(tmp_path, ids, which, *dropped, *tests)
    for id in ids if which == "not long" else ():
        assert f"[{id}" in tried, f"no test tried {id}"


def _pytest(folder: Path, ids: list[str], which: str, *files: str) -> str:
    """Whole files of tests on the copy; of all that is registered, only what is new is tried."""
    about = " or ".join([f"not ({BY_NAME})", *ids, *ALL_TOGETHER])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-x", "-m", which, "-k", about, "-p", "no:cacheprovider", *files],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder)]),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "SLOTWISE_TEST_ONLY": ",".join(ids),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    return done.stdout
