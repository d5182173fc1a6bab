"""One file is all it takes: CONTRIBUTING's examples are dropped into a copy, and the tests of everything find them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"`src/slotwise/(\w+)/(\w+\.py)`[^`]*(?:`[^`]+`[^`]*)*?```python\n(.*?)```", re.DOTALL)

#: of all that is registered, as far as a test's name has no id in it
OF_EVERYTHING = (
    "compiled",
    "obeys_the_rules",
    "test_docs",
    "test_policies",
    "help_names",
    "test_registry",
    "nobody_else",
    "no_other_estimate",
)
FILES = (
    "tests/policies",
    "tests/choice",
    "tests/estimate",
    "tests/logs/fitting",
    "tests/ranker/test_learner.py",
    "tests/cli",
    "tests/test_docs.py",
)


def test_a_file_of_each_kind_is_all_it_takes(tmp_path: Path) -> None:
    # with all that the pages lead to
    for folder in ("src", "tests", "docs", "client", "deploy"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("node_modules"))
    for file in ("README.md", "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    examples = EXAMPLE.findall((ROOT / "CONTRIBUTING.md").read_text())
    assert {folder for folder, _, _ in examples} == {"policies", "estimate", "choice"}
    dropped, ids = [], []
    for folder, name, code in examples:
        file = tmp_path / "src" / "slotwise" / folder / name
        file.write_text(code)
        dropped.append(str(file.relative_to(tmp_path)))
        ids += re.findall(r'@register\(\s*"([\w-]+)"', code)
    assert len(ids) == len(examples) == 3
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-v", "-x", "-p", "no:cacheprovider", "--durations=10"),
            *("-k", " or ".join([*ids, *(Path(file).stem for file in dropped), *OF_EVERYTHING])),
            *(*dropped, *FILES),
        ],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), str(tmp_path)]),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "SLOTWISE_TEST_ONLY": ",".join(ids),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    for id in ids:
        assert f"[{id}" in done.stdout, f"no test tried {id}"
