"""Compile the Coq developments of proofs/, check them again with coqchk, list the axioms the theorems rest on.

    python3 workflow/proofs.py [--jobs N]

Any Python 3.11 will do; Debian has what else it takes: apt install coq libcoq-coquelicot libcoq-interval. Works in
_build/proofs and leaves there theorems.json (each theorem and example: file, statement, axioms) and coqchk.txt. Fails
where a file does not compile, coqchk objects, or a theorem rests on an axiom that proofs/allowed_axioms.txt lacks.
coqchk takes the files that do not compute by `interval`.
"""

from __future__ import annotations

import argparse
import fnmatch
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

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "proofs"
BUILD = ROOT / "_build" / "proofs"
NEEDED = ("coqc", "coqchk", "coq_makefile", "make")
AUDIT = "audit/Audit_"
MARK = "rests on: "


@dataclass
class Theorem:
    """A theorem or an example of a file, as its author wrote it; the axioms it rests on, at most those of its file."""

    file: str
    name: str
    kind: str
    statement: str
    axioms: tuple[str, ...] = ()
    checked_again: bool = False  # by coqchk


def listed(source: Path = SOURCE) -> list[str]:
    """Names of the files that _CoqProject lists, in its order; ValueError unless it lists each file of the folder."""
    named = re.findall(r"^(\w+)\.v$", (source / "_CoqProject").read_text(), re.MULTILINE)
    there = sorted(path.stem for path in source.glob("*.v"))
    if sorted(named) != there:
        odd = set(named) ^ set(there) or {name for name in named if named.count(name) > 1}
        raise ValueError(f"proofs/_CoqProject must list every file of proofs/ once. Got it wrong for {sorted(odd)}.")
    return named


def without_comments(text: str) -> str:
    """Coq source without its comments, which nest."""
    depth, kept = 0, []
    for piece in re.split(r"(\(\*|\*\))", text):
        if piece == "(*":
            depth += 1
        elif piece == "*)":
            depth -= 1
        elif not depth:
            kept.append(piece)
    return "".join(kept)


def theorems(file: str, text: str) -> Iterator[Theorem]:
    """The theorems and examples of a source."""
    pattern = r"^\s*(Theorem|Example)\s+(\w+)\s*(.*?)\.\s+Proof\b"
    for found in re.finditer(pattern, without_comments(text), re.MULTILINE | re.DOTALL):
        kind, name, statement = found.groups()
        yield Theorem(file, name, kind, " ".join(statement.split()))


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


def audit(file: str) -> list[Theorem]:
    """The theorems of a compiled file, with the axioms that Coq says they rest on, all together.

    One question a file: Coq reads every proof below a theorem, those of its libraries too, for each question anew.
    """
    stated = list(theorems(file, (BUILD / f"{file}.v").read_text()))
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
    return stated


def computing(sources: dict[str, str]) -> set[str]:
    """The files that use the library Interval, themselves or through another file: its proofs compute with integers of
    the processor, which coqchk does not finish working out in any reasonable time (minutes were not enough)."""
    direct = {file for file, text in sources.items() if re.search(r"^From Interval Require\b", text, re.MULTILINE)}
    uses = {
        file: {
            name for line in re.findall(r"^From Focal Require([^.]*)\.", text, re.MULTILINE) for name in line.split()
        }
        for file, text in sources.items()
    }
    while more := {file for file in sources if uses[file] & direct} - direct:
        direct |= more
    return direct


def main() -> None:
    """Compile, list the axioms, compare them with the allowed ones, check with coqchk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="files compiled at a time")
    jobs = parser.parse_args().jobs
    if lacking := [name for name in NEEDED if not shutil.which(name)]:
        sys.exit(f"{', '.join(lacking)} must be installed: apt install coq libcoq-coquelicot libcoq-interval make")
    files = listed()
    copy_sources(files)

    start = time.monotonic()
    run("coq_makefile", "-f", "_CoqProject", "-o", "CoqMakefile")
    run("make", "-f", "CoqMakefile", f"-j{jobs}")
    print(f"{len(files)} files compiled in {time.monotonic() - start:.0f} s", flush=True)

    start = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        stated = [found for of_file in pool.map(audit, files) for found in of_file]
    print(f"axioms of {len(stated)} theorems and examples asked for in {time.monotonic() - start:.0f} s")
    rules = (SOURCE / "allowed_axioms.txt").read_text()
    forbidden = []
    for file in dict.fromkeys(found.file for found in stated):
        here = [found for found in stated if found.file == file]
        print(f"{file} ({', '.join(found.name for found in here)}):\n    {', '.join(here[0].axioms) or 'no axiom'}")
        forbidden += [f"{file}: {axiom}" for axiom in here[0].axioms if not allowed(axiom, file, rules)]
    if forbidden:
        sys.exit("\n".join(("axioms that proofs/allowed_axioms.txt does not allow:", *forbidden)))

    start = time.monotonic()
    trusted = computing({file: without_comments((BUILD / f"{file}.v").read_text()) for file in files})
    again = [file for file in files if file not in trusted]
    names = [f"Focal.{file}" for file in again]
    (BUILD / "coqchk.txt").write_text(run("coqchk", "-silent", "-o", "-Q", ".", "Focal", *names, both=True))
    print(f"coqchk: no objection to {len(again)} files, in {time.monotonic() - start:.0f} s")
    print(f"left to coqc, since they compute by `interval`: {', '.join(sorted(trusted)) or 'none'}")
    for found in stated:
        found.checked_again = found.file in again
    partial = BUILD / "theorems.json.partial"
    partial.write_text(json.dumps([asdict(found) for found in stated], indent=1) + "\n")
    partial.replace(BUILD / "theorems.json")


if __name__ == "__main__":
    main()
