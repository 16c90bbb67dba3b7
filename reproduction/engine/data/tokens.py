"""Texts as numbers: words, a vocabulary, tokens, binary parse trees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from reproduction.engine.data.dataset import Dataset, Split

UNKNOWN = 1  # 0 is padding
WORDS = 30_000  # of a vocabulary, at most


def tokenise(text: str) -> list[str]:
    """Words and single punctuation marks, in lower case: "It's fine." -> it's, fine, ."""
    return re.findall(r"\w+(?:'\w+)*|[^\w\s]", text.lower())


def vocabulary(texts: Iterable[Sequence[str]], size: int = WORDS) -> tuple[str, ...]:
    """Padding, unknown, then the most frequent words, ties in alphabetic order."""
    counts = Counter(word for text in texts for word in text)
    return ("", "<unknown>", *sorted(counts, key=lambda word: (-counts[word], word))[: size - 2])


def encode(texts: Sequence[Sequence[str]], words: Sequence[str], length: int) -> np.ndarray:
    """Tokens int32 (n, length): the first `length` of each text, 0 after its end."""
    number = {word: i for i, word in enumerate(words)}
    tokens = np.zeros((len(texts), length), dtype=np.int32)
    for row, text in zip(tokens, texts, strict=True):
        kept = [number.get(word, UNKNOWN) for word in text[:length]]
        row[: len(kept)] = kept
    return tokens


def share_unknown(inputs: np.ndarray) -> float:
    """The share of unknown words in tokens (n, L), or in the leaves of trees (n, M, 4); see `Split`."""
    numbers = inputs if inputs.ndim == 2 else inputs[..., 2]
    return float((numbers[numbers > 0] == UNKNOWN).mean())


def token_set(name: str, classes: int, parts: Sequence[tuple[list[list[str]], np.ndarray]], length: int) -> Dataset:
    """Data set of a training and a test part; the vocabulary is the training part's."""
    words = vocabulary(parts[0][0])
    train, test = (Split(encode(texts, words, length), labels) for texts, labels in parts)
    return Dataset(name, classes, train, test, kind="tokens", vocabulary=words)


# --- trees -----------------------------------------------------------------------------


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
