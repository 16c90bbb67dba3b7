"""Binary parse trees: read, made where a text has none, and as arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reproduction.engine.data.tokens import UNKNOWN


class Tree(NamedTuple):
    """A node of a binary parse tree: its label, and either a word or two children."""

    label: int
    word: str | None
    children: tuple[Tree, ...]


def parse_tree(line: str) -> Tree:
    """'(3 (2 It) (4 works))' -> Tree.

    Raises:
        ValueError: not a binary tree in that format.
    """
    pieces = re.findall(r"[()]|[^\s()]+", line)
    stack: list[list[str | Tree]] = [[]]
    for piece in pieces:
        if piece == "(":
            stack.append([])
        elif piece == ")" and len(stack) > 1:
            stack[-2].append(_node(stack.pop(), line))
        else:
            stack[-1].append(piece)
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], Tree):
        raise ValueError(f"a tree must read like '(3 (2 It) (4 works))'. Got {line[:60]!r}.")
    return stack[0][0]


def _node(parts: list[str | Tree], line: str) -> Tree:
    match parts:
        case [str(label), str(word)] if label.isdigit():
            return Tree(int(label), word.lower(), ())
        case [str(label), Tree() as left, Tree() as right] if label.isdigit():
            return Tree(int(label), None, (left, right))
    raise ValueError(f"a node must be '(label word)' or '(label left right)'. Got {line[:60]!r}.")


def _rows(tree: Tree, number: dict[str, int]) -> list[list[int]]:
    """Left, right, token, height of each node, the root first."""
    nodes = [tree]
    rows = [[-1, -1, -1, 0]]
    at = 0
    while at < len(nodes):
        node = nodes[at]
        if node.word is None:
            rows[at][:2] = [len(nodes), len(nodes) + 1]
            nodes += node.children
            rows += [[-1, -1, -1, 0], [-1, -1, -1, 0]]
        else:
            rows[at][2] = number.get(node.word, UNKNOWN)
        at += 1
    for row in reversed(rows):  # children come after their parent
        if row[0] >= 0:
            row[3] = 1 + max(rows[row[0]][3], rows[row[1]][3])
    return rows


def encode_trees(trees: Sequence[Tree], words: Sequence[str]) -> np.ndarray:
    """Trees int32 (n, M, 4), see Split; M is the largest number of nodes."""
    number = {word: i for i, word in enumerate(words)}
    rows = [_rows(tree, number) for tree in trees]
    encoded = np.full((len(rows), max(map(len, rows)), 4), -1, dtype=np.int32)
    for target, row in zip(encoded, rows, strict=True):
        target[: len(row)] = row
    return encoded


def words_of(tree: Tree) -> list[str]:
    """The words in its leaves, from left to right."""
    return [tree.word] if tree.word is not None else [w for child in tree.children for w in words_of(child)]


def balanced_tree(words: Sequence[str]) -> Tree:
    """The words halved down to single ones, for a text without a parse; every label is 0.

    A Tree-LSTM on such trees classifies sentences about as well as on parse trees (Shi, Zhou, Chen & Li 2018).

    Raises:
        ValueError: no words.
    """
    if not words:
        raise ValueError("a tree must have a word at least. Got none.")
    if len(words) == 1:
        return Tree(0, words[0], ())
    half = len(words) // 2
    return Tree(0, None, (balanced_tree(words[:half]), balanced_tree(words[half:])))
