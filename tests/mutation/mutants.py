"""Small changes of a module's source, each of which a test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Final, NamedTuple

_COMPARED: Final[dict[type, type]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: Final[dict[type, type]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult}
#: SQL, whose words are changed one at a time
_WORDS: Final = (
    ("<=", "<"),
    (">=", ">"),
    (" AND ", " OR "),
    ("final = 0", "final = 1"),
    ("final = 1", "final = 0"),
    ("ORDER BY deadline", "ORDER BY deadline DESC"),
    ("DO NOTHING", "DO UPDATE SET rowid = rowid"),
    (" + excluded.", " - excluded."),
)


class Mutant(NamedTuple):
    """Changed source."""

    line: int
    what: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """All mutants of a module, in order."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        for choice, what in enumerate(_choices(node)):
            changed = copy.deepcopy(tree)
            place = next(found for index, found in enumerate(ast.walk(changed)) if index == number)
            _change(place, choice)
            yield Mutant(getattr(node, "lineno", 0), what, ast.unparse(changed))


def _choices(node: ast.AST) -> list[str]:
    """What can be changed at a node."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            return [f"{type(op).__name__} → {_COMPARED[type(op)].__name__}"]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _COMPUTED:
            return [f"{type(op).__name__} → {_COMPUTED[type(op)].__name__}"]
        case ast.BoolOp(op=op):
            return [f"{type(op).__name__} the other"]
        case ast.UnaryOp(op=ast.Not()):
            return ["not → nothing"]
        case ast.If() | ast.IfExp():
            return ["if → if not"]
        case ast.Constant(value=bool(truth)):
            return [f"{truth} → {not truth}"]
        case ast.Constant(value=int(number)):
            return [f"{number} → {number + 1}"]
        case ast.Constant(value=str(text)):
            return [f"{old} → {new}" for old, new in _WORDS if old in text]
        case ast.Continue() | ast.Break():
            return ["left out"]
        case ast.Expr(value=ast.Call()):
            return ["call left out"]
    return []


def _change(node: ast.AST, choice: int) -> None:
    match node:
        case ast.Compare():
            node.ops = [_COMPARED[type(node.ops[0])]()]
        case ast.BinOp() | ast.AugAssign():
            node.op = _COMPUTED[type(node.op)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
        case ast.If() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant(value=int(number)):
            node.value = number + 1
        case ast.Constant(value=str(text)):
            old, new = [pair for pair in _WORDS if pair[0] in text][choice]
            node.value = text.replace(old, new, 1)
        case ast.Continue() | ast.Break():
            node.__class__ = ast.Pass  # type: ignore[assignment]
        case ast.Expr():
            node.value = ast.Constant(None)
