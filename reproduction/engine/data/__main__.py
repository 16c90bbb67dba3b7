"""Fetch data sets, or say why not: python -m reproduction.engine.data fashion-mnist"""

import sys

from reproduction.engine.data import load

try:
    for wanted in sys.argv[1:] or ["fashion-mnist"]:
        found = load(wanted)
        print(f"{wanted}: {len(found.train):,} training and {len(found.test):,} test {found.kind}")
except (OSError, ValueError, MemoryError) as problem:
    sys.exit(f"Error: {problem}")  # as `focal run` says it: whoever reads the log knows a reason by it
