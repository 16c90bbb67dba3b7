"""What computes a claim's evidence: a digest of its check and of all that this names in its own module."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import io
import tokenize
from collections.abc import Callable
from typing import Any

_Function = ast.FunctionDef | ast.Lambda
_Lines = list[bytes]  # ast counts bytes


def digest(check: Callable[..., Any]) -> str:
    """Twelve hexadecimal digits, the same for another layout, other comments and another docstring.

    Functions and constants of other modules do not count: the record has a step's equations, and digests of data.
    """
    code = inspect.unwrap(check)
    lines, named, functions = _module(inspect.getsourcefile(code) or "")
    begin = functions[code.__code__.co_firstlineno]
    found = {begin.lineno: _parts(begin)}
    waiting = [*found[begin.lineno]]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and (other := named.get(node.id)) and other.lineno not in found:
                found[other.lineno] = _parts(other)
                waiting += found[other.lineno]
    texts = (_text(lines, part) for line in sorted(found) for part in found[line])
    return hashlib.sha256(b"\n".join(texts)).hexdigest()[:12]


@functools.cache
def _module(file: str) -> tuple[_Lines, dict[str, ast.stmt], dict[int, _Function]]:
    """Its lines without comments; what stands at its top, by name; its functions, by the line where each begins."""
    with open(file, encoding="utf-8") as opened:
        source = opened.read()
    tree, lines = ast.parse(source), source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = token.line[: token.start[1]]
    named: dict[str, ast.stmt] = {}
    for one in tree.body:
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            named[one.name] = one
        elif isinstance(one, ast.Assign | ast.AnnAssign):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            named |= {name.id: one for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    functions: dict[int, _Function] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            functions.setdefault(min(part.lineno for part in (node, *decorators)), node)
    return [line.encode() for line in lines], named, functions


def _text(lines: _Lines, node: Any) -> bytes:
    """Its source without white space."""
    part = lines[node.lineno - 1 : node.end_lineno]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    return b"".join(b"".join(part).split())


def _parts(node: ast.AST) -> list[ast.AST]:
    """What of it computes: of a function its defaults and its body, without the docstring."""
    if isinstance(node, ast.Lambda):
        return [*node.args.defaults, node.body]
    if isinstance(node, ast.FunctionDef):
        return [*node.args.defaults, *filter(None, node.args.kw_defaults), *filter(_computes, node.body)]
    return [*filter(_computes, node.body)] if isinstance(node, ast.ClassDef) else [node]


def _computes(node: ast.AST) -> bool:
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
