"""Compile the Coq developments of proofs/, check them again with coqchk, list the axioms the theorems rest on.

    python3 workflow/proofs.py [--jobs N] [--record]

Any Python 3.11 will do; Debian has what else it takes: apt install coq libcoq-coquelicot libcoq-interval. Works in
_build/proofs and leaves there coqchk.txt and theorems.json: what the kernel checked (each theorem and example with its
file, statement, note and axioms, the lemmas below them, a checksum of every source). The ledger reads it. Fails where a
file does not compile, coqchk objects, a theorem rests on an axiom that proofs/allowed_axioms.txt lacks, or what was
found is not on record in proofs/theorems.json, which --record writes. coqchk takes the files that do not compute by
`interval`.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "proofs"
RECORD = SOURCE / "theorems.json"
BUILD = ROOT / "_build" / "proofs"
NEEDED = ("coqc", "coqchk", "coq_makefile", "make")
AUDIT = "audit/Audit_"
MARK = "rests on: "
STEP = "tt\n     : unit\n"  # what `Check tt.` prints, which runs at any place of a proof
WALKED = (  # shown step by step in the book
    "KK24_Prop1.kk24_prop1",
    "KK24_Prop4.kk24_map_recovers_truth",
    "KK24_Prop5.kk24_prop5_refuted_4",
)


@dataclass
class Statement:
    """A theorem, example or lemma of a file, as its author wrote it; the axioms it rests on, or more: its file's."""

    file: str
    name: str
    kind: str  # 'Theorem', 'Example' or 'Lemma'
    statement: str
    note: str  # the comment before it, or else the one at the head of its file
    proof: str  # Coq's tactics
    uses: tuple[str, ...] = ()  # 'file.name' of the statements that its proof names
    axioms: tuple[str, ...] = ()
    checked_again: bool = False  # by coqchk

    @property
    def audited(self) -> bool:
        return self.kind != "Lemma"

    @property
    def key(self) -> str:
        return f"{self.file}.{self.name}"


def listed(source: Path = SOURCE) -> list[str]:
    """Names of the files that _CoqProject lists, in its order; ValueError unless it lists each file of the folder."""
    named = re.findall(r"^(\w+)\.v$", (source / "_CoqProject").read_text(), re.MULTILINE)
    there = sorted(path.stem for path in source.glob("*.v"))
    if sorted(named) != there:
        odd = set(named) ^ set(there) or {name for name in named if named.count(name) > 1}
        raise ValueError(f"proofs/_CoqProject must list every file of proofs/ once. Got it wrong for {sorted(odd)}.")
    return named


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Where the comments of a Coq source begin and end; they nest."""
    depth, begin = 0, 0
    for mark in re.finditer(r"\(\*|\*\)", text):
        if mark.group() == "(*":
            begin = begin if depth else mark.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield begin, mark.end()


def without_comments(text: str) -> str:
    """A Coq source with blanks for its comments: every other character keeps its place."""
    for begin, end in comments(text):
        text = text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]
    return text


def statements(file: str, text: str) -> Iterator[Statement]:
    """The theorems, examples and lemmas of a source."""
    code = without_comments(text)
    notes = {end: " ".join(text[begin + 2 : end - 2].split()) for begin, end in comments(text)}
    head = next(iter(notes.values()), "")
    pattern = r"^[ \t]*(Theorem|Example|Lemma)\s+(\w+)\s*(.*?)\.\s+Proof\b(.*?)\b(?:Qed|Defined)\."
    for found in re.finditer(pattern, code, re.MULTILINE | re.DOTALL):
        kind, name, stated, proof = found.groups()
        above = notes.get(len(text[: found.start(1)].rstrip()), "").strip("- ")
        note = above if kind == "Lemma" else above or head
        yield Statement(file, name, kind, dedent(stated), note, proof.lstrip(".").strip())


def definitions(text: str) -> dict[str, str]:
    """The definitions of a source, each as its author wrote it."""
    found = re.finditer(r"^(?:Definition|Fixpoint)\s+(\w+).*?\.$", without_comments(text), re.MULTILINE | re.DOTALL)
    return {one.group(1): one.group() for one in found}


def dedent(stated: str) -> str:
    """A statement as its author broke it into lines, the later ones two blanks in."""
    first, *later = (line.strip() for line in stated.strip().splitlines())
    return "\n  ".join((first, *later))


def required(text: str) -> set[str]:
    """The files of this project that a source names in `From Focal Require`."""
    lines = re.findall(r"^From Focal Require([^.]*)\.", without_comments(text), re.MULTILINE)
    return {name for line in lines for name in line.split()} - {"Import", "Export"}


def link(found: list[Statement], requires: dict[str, set[str]]) -> None:
    """Fill in what each proof uses: the words of it that name a statement, of its own file before those it requires."""
    of_file: dict[str, dict[str, str]] = {}
    for one in found:
        of_file.setdefault(one.file, {})[one.name] = one.key
    for one in found:
        known: dict[str, str] = {}
        for file in sorted(requires[one.file]):
            known |= of_file.get(file, {})
        known |= of_file[one.file]
        words = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", one.proof))
        one.uses = tuple(known[word] for word in words if word in known and word != one.name)


def allowed(axiom: str, file: str, rules: str) -> bool:
    """Whether the rules (lines of allowed_axioms.txt) let this file use this axiom."""
    for line in rules.splitlines():
        words = line.split("#")[0].split()
        if words and fnmatch.fnmatchcase(axiom, words[0]) and (len(words) == 1 or file in words[1:]):
            return True
    return False


def read_axioms(printed: str) -> dict[str, tuple[str, ...]]:
    """What `Print Assumptions` printed behind each mark: names start a line, their types are indented."""
    found = {}
    for part in printed.split(MARK)[1:]:
        name, *lines = part.splitlines()
        if not lines or lines[0] not in ("Axioms:", "Closed under the global context"):
            raise ValueError(f"the axioms of {name} must follow its mark. Got {lines[:1]}.")
        found[name.strip()] = tuple(sorted(line.split()[0] for line in lines[1:] if line[:1].strip()))
    return found


def run(*command: str, both: bool = False) -> str:
    """The command's standard output, with `both` its messages behind it; where it fails, both end the program."""
    done = subprocess.run(command, cwd=BUILD, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nfailed: {' '.join(command)}")
    return done.stdout + done.stderr if both else done.stdout


def copy_sources(files: list[str]) -> None:
    """Bring _build/proofs up to date: only what changed, so that make compiles no more than it must."""
    BUILD.mkdir(parents=True, exist_ok=True)
    for old in BUILD.glob("*.v"):
        if old.stem not in files:
            old.unlink()
    for name in (*(f"{file}.v" for file in files), "_CoqProject"):
        if not (BUILD / name).exists() or (BUILD / name).read_bytes() != (SOURCE / name).read_bytes():
            shutil.copyfile(SOURCE / name, BUILD / name)


def audit(file: str, stated: list[Statement]) -> None:
    """Fill in the axioms that Coq says the theorems and examples of a compiled file rest on, all together.

    One question a file: Coq reads every proof below a theorem, those of its libraries too, for each question anew.
    """
    if stated:
        together = ", ".join(f"{file}.{found.name}" for found in stated)
        name = f"{AUDIT}{file}.v"
        (BUILD / name).parent.mkdir(exist_ok=True)
        (BUILD / name).write_text(
            f"From Focal Require {file}.\nDefinition together := ({together}, I).\n"
            f'Goal True. idtac "{MARK}{file}". Abort.\nPrint Assumptions together.\n'
        )
        axioms = read_axioms(run("coqc", "-q", "-w", "none", "-Q", ".", "Focal", name))[file]
        for found in stated:
            found.axioms = axioms


def sentences(proof: str) -> list[str]:
    """The sentences of a proof: a full stop ends one where a blank or the end follows."""
    return [f"{part.strip()}." for part in re.split(r"\.(?=\s|$)", proof) if part.strip()]


def walk(one: Statement) -> list[dict[str, str]]:
    """A proof step by step: each sentence with the goals that Coq shows after it, '' before the first."""
    source = (BUILD / f"{one.file}.v").read_text()
    code = without_comments(source)
    begin = re.compile(rf"^\s*{one.kind}\s+{one.name}\b.*?\bProof\.", re.MULTILINE | re.DOTALL).search(code)
    assert begin is not None  # it was found there by `statements`
    steps = sentences(one.proof)
    shown = "".join(f"\n{step}\nCheck tt. Show." for step in ("", *steps))
    name = f"audit/Walk_{one.file}_{one.name}.v"
    (BUILD / name).write_text(f"{source[: begin.end()]}{shown}\nAbort.\n")
    printed = run("coqc", "-q", "-w", "none", "-Q", ".", "Focal", name).split(STEP)[1:]
    goals = ["\n".join(line.rstrip() for line in part.strip().splitlines()) for part in printed]
    return [{"step": step, "goals": after} for step, after in zip(("", *steps), goals, strict=True)]


def computing(sources: dict[str, str]) -> set[str]:
    """The files that use the library Interval, themselves or through another file: its proofs compute with integers of
    the processor, which coqchk does not finish working out in any reasonable time (minutes were not enough)."""
    direct = {file for file, text in sources.items() if re.search(r"^From Interval Require\b", text, re.MULTILINE)}
    uses = {file: required(text) for file, text in sources.items()}
    while more := {file for file in sources if uses[file] & direct} - direct:
        direct |= more
    return direct


def digests(files: list[str], source: Path = SOURCE) -> dict[str, str]:
    """SHA-256 of each source: what was checked was this text."""
    return {file: hashlib.sha256((source / f"{file}.v").read_bytes()).hexdigest() for file in files}


def write(content: dict[str, Any], path: Path) -> None:
    """As JSON, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    partial.replace(path)


def main() -> None:
    """Compile, list the axioms, compare them with the allowed ones, check with coqchk, compare with the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="files compiled at a time")
    parser.add_argument("--record", action="store_true", help="write proofs/theorems.json")
    options = parser.parse_args()
    if lacking := [name for name in NEEDED if not shutil.which(name)]:
        sys.exit(f"{', '.join(lacking)} must be installed: apt install coq libcoq-coquelicot libcoq-interval make")
    files = listed()
    copy_sources(files)
    checksums = digests(files, BUILD)  # before the kernel reads them: a source edited meanwhile counts as unchecked
    (BUILD / "theorems.json").unlink(missing_ok=True)

    start = time.monotonic()
    run("coq_makefile", "-f", "_CoqProject", "-o", "CoqMakefile")
    run("make", "-f", "CoqMakefile", f"-j{options.jobs}")
    print(f"{len(files)} files compiled in {time.monotonic() - start:.0f} s", flush=True)

    start = time.monotonic()
    sources = {file: (BUILD / f"{file}.v").read_text() for file in files}
    everything = [one for file, text in sources.items() for one in statements(file, text)]
    link(everything, {file: required(text) for file, text in sources.items()})
    stated = {file: [one for one in everything if one.file == file and one.audited] for file in files}
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(audit, files, stated.values()))
    count = sum(map(len, stated.values()))
    print(f"axioms of {count} theorems and examples asked for in {time.monotonic() - start:.0f} s")
    rules = (SOURCE / "allowed_axioms.txt").read_text()
    forbidden: list[str] = []
    for file, here in stated.items():
        if here:
            together = ", ".join(one.name for one in here)
            print(f"{file} ({together}):\n    {', '.join(here[0].axioms) or 'no axiom'}")
            forbidden += [f"{file}: {axiom}" for axiom in here[0].axioms if not allowed(axiom, file, rules)]
    if forbidden:
        sys.exit("\n".join(("axioms that proofs/allowed_axioms.txt does not allow:", *forbidden)))

    start = time.monotonic()
    trusted = computing({file: without_comments(text) for file, text in sources.items()})
    again = [file for file in files if file not in trusted]
    names = [f"Focal.{file}" for file in again]
    (BUILD / "coqchk.txt").write_text(run("coqchk", "-silent", "-o", "-Q", ".", "Focal", *names, both=True))
    print(f"coqchk: no objection to {len(again)} files, in {time.monotonic() - start:.0f} s")
    print(f"left to coqc, since they compute by `interval`: {', '.join(sorted(trusted)) or 'none'}")
    for one in everything:
        one.checked_again = one.file in again

    version = run("coqc", "--print-version").split()[0]
    found = {
        "coq": version,
        "sources": checksums,
        "definitions": {
            f"{file}.{name}": one for file, text in sources.items() for name, one in definitions(text).items()
        },
        "walks": {one.key: walk(one) for one in everything if one.key in WALKED},
        "statements": [{k: v for k, v in asdict(one).items() if k != "proof"} for one in everything],
    }
    write(found, BUILD / "theorems.json")
    if options.record:
        write(found, RECORD)
        print(f"{count} theorems and examples -> {RECORD.relative_to(ROOT)}")
    on_record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if json.loads((BUILD / "theorems.json").read_text()) | {"coq": ""} != on_record | {"coq": ""}:
        sys.exit("what was checked is not what proofs/theorems.json says: python3 workflow/proofs.py --record")


if __name__ == "__main__":
    main()
