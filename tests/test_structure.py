"""A reader finds things: every name is used once, folders are small, and no import goes round in a circle."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
MAX_MODULES = 20
LIMIT_WORDS = ("MOST_", "LEAST_", "FEWEST_", "LONGEST_", "SHORTEST_", "LARGEST_", "SMALLEST_", "HIGHEST_", "LOWEST_")


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")


@cache
def _trees() -> dict[str, ast.Module]:
    return {_dotted(path): ast.parse(path.read_text()) for path in sorted(SOURCES.rglob("*.py"))}


def _packages() -> set[str]:
    return {_dotted(path) for path in SOURCES.rglob("__init__.py")}


def _repeated(names: list[str]) -> dict[str, int]:
    return {name: count for name, count in Counter(names).items() if count > 1}


def test_module_names_are_unique() -> None:
    assert _repeated([name.rpartition(".")[2] for name in _trees() if name not in _packages()]) == {}


def test_public_class_names_are_unique() -> None:
    classes = [node.name for tree in _trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert _repeated([name for name in classes if not name.startswith("_")]) == {}


def test_folders_hold_at_most_20_modules() -> None:
    sizes = Counter(name.rpartition(".")[0] for name in _trees() if name not in _packages())
    assert {folder: size for folder, size in sizes.items() if size > MAX_MODULES} == {}


def test_no_package_attribute_hides_a_submodule() -> None:
    hidden = []
    for package in _packages():
        for node in _trees()[package].body:
            bound = [alias.asname or alias.name for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias)]
            bound += [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            hidden += [f"{package}.{name}" for name in bound if f"{package}.{name}" in _trees()]
    assert hidden == []


def test_imports_have_no_cycle_even_within_functions() -> None:
    graph: dict[str, set[str]] = {}
    for module, tree in _trees().items():
        if module in _packages():
            continue
        graph[module] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    target = full if full in _trees() else node.module
                    if target in _trees() and target not in _packages():
                        graph[module].add(target)
    # raises CycleError, which names the modules
    TopologicalSorter(graph).prepare()


def test_limits_are_called_max_and_min() -> None:
    names = [
        target.id
        for tree in _trees().values()
        for node in tree.body
        for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
        if isinstance(target, ast.Name)
    ]
    assert [name for name in names if name.lstrip("_").startswith(LIMIT_WORDS)] == []
