"""Find the quoted words of every claim in the papers' texts, and write down the lines.

    python -m workflow.quoted_lines FOLDER

FOLDER holds the texts, *.txt, one a paper; which is whose is told by the quotations found in it. Letters and digits
are compared, so that spaces, hyphenation, ligatures, quotation marks and signs make no difference; where a formula
stands in a quotation, the words on both sides of it must follow each other. Writes quoted_lines.json of the ledger
and names what was not found.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reproduction.ledger.ledger import PAPERS, Claim, ledger
from reproduction.ledger.quoted_lines import FILE, quoted_pieces

FORMULA = 250  # letters and digits that a formula may put between words
PAGE = 4000  # those that a page's end, a figure and a table at its head may
SHORT = 6  # letters: such a piece is looked for beside the others alone
BESIDE = 3000  # letters
RARE = 2  # places


@dataclass(frozen=True)
class Text:
    """A text's letters and digits in lower case, and where in them each line begins."""

    letters: str
    begins: tuple[int, ...]
    sha256: str

    @classmethod
    def read(cls, content: bytes) -> Text:
        """A text in UTF-8; its lines end with a line feed."""
        lines = [_letters(line) for line in content.decode("utf-8", "replace").removesuffix("\n").split("\n")]
        begins, total = [], 0
        for line in lines:
            begins.append(total)
            total += len(line)
        return cls("".join(lines), tuple(begins), hashlib.sha256(content).hexdigest())

    @property
    def lines(self) -> int:
        return len(self.begins)

    def line(self, place: int) -> int:
        """Number of the line, from 1, of a letter."""
        return bisect.bisect_right(self.begins, place)

    def places(self, piece: str) -> list[int]:
        """Where a quoted piece begins, formulas in it left out: every place; else where a page's end interrupts it."""
        parts = [part for part in map(_letters, re.split(r"\x00|…|\.\.\.", piece)) if part]
        if found := self._places(parts, FORMULA):
            return found
        words = piece.split()
        for k in range(len(words) - 1, 0, -1):
            halves = [_letters(" ".join(part)) for part in (words[:k], words[k:])]
            if min(map(len, halves)) > SHORT and (found := self._places(halves, PAGE)):
                return found
        return []

    def _places(self, parts: Sequence[str], between: int) -> list[int]:
        """Every place where the first part begins and the others follow, each at most so many letters further on."""
        pattern = f".{{0,{between}}}?".join(parts)
        return [found.start() for found in re.finditer(f"(?={pattern})", self.letters)] if parts else []


def _letters(text: str) -> str:
    """Ligatures are letters, an umlaut is its vowel."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).lower() if c.isalnum())


def find_pieces(text: Text, pieces: Sequence[str]) -> list[int | None]:
    """The line of each piece, None if it is not there; of several places the one nearest to the rarest piece."""
    places = [text.places(piece) for piece in pieces]
    telling = [found for piece, found in zip(pieces, places, strict=True) if _tells(piece, found)]
    if not telling:
        return [None] * len(pieces)
    anchor = min(telling, key=len)[0]
    lines: list[int | None] = []
    for piece, found in zip(pieces, places, strict=True):
        nearest = min(found, key=lambda place: abs(place - anchor), default=None)
        so = nearest is not None and (_tells(piece, found) or abs(nearest - anchor) <= BESIDE)
        lines.append(text.line(nearest) if so and nearest is not None else None)
    return lines


def _tells(piece: str, places: Sequence[int]) -> bool:
    """Whether a piece that stands in these places is enough to know its own: long, or of several words and rare."""
    parts = [len(_letters(part)) for part in piece.split("\x00")]
    return bool(places) and (max(parts) > SHORT or (sum(parts) > SHORT and len(places) <= RARE))


def find_all(texts: Mapping[str, Text], claims: Sequence[Claim]) -> dict[str, list[int | None]]:
    """Claim id -> the line of each quoted piece, of the claims that quote anything of their paper's text."""
    found = {}
    for claim in claims:
        lines = find_pieces(texts[claim.paper], quoted_pieces(claim.statement))
        if any(lines):
            found[claim.id] = lines
    return found


def read_texts(folder: Path) -> dict[str, Text]:
    """Paper -> its text: the file of the folder that holds most of its quotations.

    Raises:
        ValueError: no text for a paper.
    """
    files = [Text.read(path.read_bytes()) for path in sorted(folder.glob("*.txt"))]
    texts = {}
    for paper in PAPERS:
        pieces = [piece for claim in ledger(paper) for piece in quoted_pieces(claim.statement)]
        held = [sum(bool(text.places(piece)) for piece in pieces if len(_letters(piece)) > SHORT) for text in files]
        if not any(held):
            raise ValueError(f"the folder must hold a text of each paper, *.txt. Got none of {PAPERS[paper]}.")
        texts[paper] = files[held.index(max(held))]
    return texts


def main(folder: str) -> None:
    """Write the lines, and say what was not found."""
    texts = read_texts(Path(folder))
    found = find_all(texts, ledger())
    read = {paper: {"sha256": text.sha256, "lines": text.lines} for paper, text in texts.items()}
    rows = ",\n".join(f"  {json.dumps(id)}: {json.dumps(lines)}" for id, lines in found.items())
    head = json.dumps({"texts": read}, indent=1).removesuffix("\n}")
    FILE.write_text(f'{head},\n "claims": {{\n{rows}\n }}\n}}\n')
    pieces = [(claim, piece, k) for claim in ledger() for k, piece in enumerate(quoted_pieces(claim.statement))]
    missing = [(claim, piece) for claim, piece, k in pieces if claim.id not in found or found[claim.id][k] is None]
    for claim, piece in missing:
        print(f"{claim.id} ({claim.fidelity}): {piece.replace(chr(0), '$')!r} was not found")
    print(f"{len(pieces) - len(missing)} of {len(pieces)} pieces found")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit(f"one FOLDER with the papers' texts is needed. Got {' '.join(sys.argv[1:]) or 'none'}.")
    main(sys.argv[1])
