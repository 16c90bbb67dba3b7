"""The changes that a mutation run makes to a source, one at a time: a factor, a sign, an exponent, a comparison.

A number in arithmetic and each returned value is changed by one per cent; any other whole number by 1; + and -, * and
/, min and max, `and` and `or` change places; a comparison is turned round, and the same with and without its end; an
exponent grows by 1; a sign or a `not` goes. What is raised, annotations, decorators, imports, texts and tolerances
(numbers below 1e-8, where one per cent is nothing) stay.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

_PLACES = {"+": "-", "-": "+", "*": "/", "/": "*", "&": "|", "|": "&", "//": "*", "%": "*"}
_COMPARED: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
_PAIRS = [("min", "max"), ("minimum", "maximum"), ("amin", "amax"), ("argmin", "argmax"), ("all", "any")]
_PAIRS += [("sinh", "cosh"), ("sin", "cos"), ("floor", "ceil")]
_CALLED = dict(_PAIRS) | {b: a for a, b in _PAIRS} | {"log1p": "log", "expm1": "exp"}
_TOLERANCE = 1e-8
_NO_NUMBER = {"bool", "str", "None"}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_OPERATORS |= {ast.BitAnd: "&", ast.BitOr: "|"}


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: str  # relative to the project
    function: str  # that it is in, 'Line.slope'; '' at the module's level
    begin: int  # bytes of the source that are replaced
    end: int
    new: str

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.begin] + self.new.encode() + source[self.end :]

    def line(self, source: bytes) -> int:
        """Number of the line it is on."""
        return source.count(b"\n", 0, self.begin) + 1

    def diff(self, source: bytes) -> str:
        """Lines before and after, with one line around them."""
        before, after = (text.decode().splitlines() for text in (source, self.applied(source)))
        return "\n".join(difflib.unified_diff(before, after, self.path, self.function, lineterm="", n=1))


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file, in the order of the source.

    Raises:
        SyntaxError: it is no Python, or a change of it is none: then this module is wrong.
    """
    found = _Changes(path, source)
    found.visit(ast.parse(source))
    distinct = sorted(set(found.mutants), key=lambda m: (m.begin, m.end, m.new))
    for mutant in distinct:
        ast.parse(mutant.applied(source))
    return distinct


class _Changes(ast.NodeVisitor):
    """Collects the changes; `inside` holds the nodes around the one that is visited."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for row in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(row))
        self.inside: list[ast.AST] = []
        self.names: list[str] = []
        self.returns: list[str] = []
        self.mutants: list[Mutant] = []

    # --- places ---

    def _begin(self, node: ast.expr) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        return self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def _text(self, node: ast.expr) -> str:
        return self.source[self._begin(node) : self._end(node)].decode()

    def _add(self, begin: int, end: int, new: str) -> None:
        self.mutants.append(Mutant(self.path, ".".join(self.names), begin, end, new))

    def _replace(self, node: ast.expr, new: str) -> None:
        self._add(self._begin(node), self._end(node), new)

    def _between(self, begin: int, end: int, old: str, new: str) -> None:
        """Replace the operator between two operands, past brackets, line ends and comments."""
        gap = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment.group()), self.source[begin:end])
        word = rb"\b" if old[0].isalpha() else b""
        pattern = word + rb"\s+".join(re.escape(part.encode()) for part in old.split()) + word
        place = re.search(pattern, gap)
        if place is None:
            raise SyntaxError(f"{self.path}: expected {old!r} between two operands. Got {gap.decode()!r}.")
        self._add(begin + place.start(), begin + place.end(), new)

    # --- what stays, and where a change is ---

    def generic_visit(self, node: ast.AST) -> None:
        self.inside.append(node)
        super().generic_visit(node)
        self.inside.pop()

    def visit_Raise(self, node: ast.Raise) -> None: ...

    def visit_Import(self, node: ast.Import) -> None: ...

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None: ...

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        for child in node.body:
            self.visit(child)
        self.names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.append(node.name)
        self.returns.append("" if node.returns is None else self._text(node.returns))
        for child in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(child)
        self.returns.pop()
        self.names.pop()

    # --- the changes ---

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and self.returns[-1] not in _NO_NUMBER:
            for part in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
                if not isinstance(part, ast.Constant | ast.Starred | ast.JoinedStr):
                    self._replace(part, f"1.01 * ({self._text(part)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int | float) and (node.value == 0 or abs(node.value) >= _TOLERANCE):
            if isinstance(node.value, int) and not self._in_arithmetic():
                compared_with_0 = node.value == 0 and isinstance(self.inside[-1], ast.Compare)
                self._replace(node, "0.01" if compared_with_0 else str(node.value + 1))
            else:
                self._replace(node, f"({self._text(node)} * 1.01)" if node.value else "0.01")

    def _in_arithmetic(self) -> bool:
        """Whether the number is an operand of a formula, and no index or count."""
        around = [n for n in self.inside if not isinstance(n, ast.UnaryOp)]
        counted = any(
            isinstance(n, ast.Subscript) or (isinstance(n, ast.Call) and getattr(n.func, "id", "") == "range")
            for n in around
        )
        return bool(around) and isinstance(around[-1], ast.BinOp | ast.Return) and not counted

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right))
        if isinstance(node.op, ast.Pow):
            if not isinstance(node.right, ast.Constant):
                self._replace(node.right, f"({self._text(node.right)} + 1)")
        elif (old := _OPERATORS.get(type(node.op))) and not texts:
            self._between(self._end(node.left), self._begin(node.right), old, _PLACES[old])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if old := _OPERATORS.get(type(node.op)):
            self._between(self._end(node.target), self._begin(node.value), f"{old}=", f"{_PLACES[old]}=")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        sign = {ast.USub: "-", ast.Not: "not", ast.Invert: "~"}.get(type(node.op))
        if sign is not None:
            self._between(self._begin(node), self._begin(node.operand), sign, "")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            old, news = _COMPARED[type(op)]
            for new in news:
                self._between(self._end(left), self._begin(right), old, new)
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(self._end(left), self._begin(right), old, new)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in _CALLED:
            end = self._end(node.func)
            self._add(end - len(name), end, _CALLED[name])
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if isinstance(test, ast.Name | ast.Call | ast.Attribute):
            self._replace(test, f"(not {self._text(test)})")

    def visit_If(self, node: ast.If) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)


def pieces(source: bytes, function: str, code: str) -> Iterator[tuple[int, int]]:
    """Where this code stands within a function of that qualified name, or at the module's level for ''.

    Used to name equivalent mutants by what is written there, which no line number is.
    """
    for begin, end in _spans(source, function):
        at = source.find(code.encode(), begin, end)
        while at >= 0:
            yield at, at + len(code.encode())
            at = source.find(code.encode(), at + 1, end)


def _spans(source: bytes, function: str) -> Iterator[tuple[int, int]]:
    rows = source.splitlines(keepends=True)
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row))
    if not function:
        yield 0, len(source)
        return

    def within(body: list[ast.stmt], names: list[str]) -> Iterator[ast.stmt]:
        for node in body:
            inner = list(ast.iter_child_nodes(node))
            named = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == names[0]
            if named and len(names) == 1:
                yield node
            statements = [child for child in inner if isinstance(child, ast.stmt)]
            yield from within(statements, names[1:] if named and len(names) > 1 else names)

    for node in within(ast.parse(source).body, function.split(".")):
        yield starts[node.lineno - 1], starts[node.end_lineno or node.lineno]
