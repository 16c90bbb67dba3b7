"""Some tests, run in a process of their own: of a copy of the project, and what they cost.

The process is forked from a server that has loaded other people's packages (`multiprocessing`'s), so a mutant costs its
tests, and not half a minute of imports.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest

_MEMORY = 8 << 30  # bytes: a changed loop may collect without end
_PACKAGES = ("focal_lib", "reproduction", "tests", "workflow")


@dataclass
class Ran:
    """What became of some tests."""

    failed: list[str] = field(default_factory=list)  # ids of tests; one where the first failure ends it
    seconds: dict[str, float] = field(default_factory=dict)  # by test, of those that passed
    cpu: float = 0.0  # seconds of the whole process
    ended: str = ""  # 'out of time' or 'exit status -11', where it did not come to its end
    told: str = ""  # the end of what pytest wrote

    @property
    def noticed(self) -> str:
        """What noticed a change; '' for nothing."""
        return self.failed[0] if self.failed else self.ended


class _Watch:
    """A plugin of pytest that notes what fails, collecting included, and the time of what passes."""

    def __init__(self, ran: Ran, chosen: tuple[list[str], list[str]]) -> None:
        self.ran = ran
        self.wanted, self.left_out = chosen

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        there = {item.nodeid: item for item in items if item.nodeid not in self.left_out}
        items[:] = [there[id] for id in self.wanted if id in there] if self.wanted else there.values()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.ran.failed.append(report.nodeid)
        elif report.when == "call":
            self.ran.seconds[report.nodeid] = report.duration

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.ran.failed.append(f"{report.nodeid} (import)")


def run_tests(
    context: ForkServerContext,
    tree: Path,
    tests: list[str],
    *,
    seconds: float,
    left_out: list[str] | None = None,
    first: bool = True,
) -> Ran:
    """Run tests of the project that lies in `tree`, at most so many CPU seconds, up to the first failure or all.

    `tests` are files, or tests of one file, 'tests/x.py::test_y[z]', in the order in which they run; of these some may
    not exist. A conftest.py that cannot be imported ends them, too.
    """
    here, there = context.Pipe(duplex=False)
    arguments = [*dict.fromkeys(test.split("::")[0] for test in tests), *(["-x"] if first else [])]
    chosen = [test for test in tests if "::" in test], left_out or []
    process = context.Process(target=_run, args=(str(tree), arguments, chosen, int(seconds) + 1, there), daemon=True)
    process.start()
    there.close()
    code, ran = None, Ran()
    if here.poll(60 + 20 * seconds):  # a machine that is shared may give a tenth of a core
        with contextlib.suppress(EOFError):  # it ended without a word
            code, content = here.recv()
            ran = Ran(**content)
    process.join(10)
    if process.is_alive():
        process.kill()
        process.join()
    if code is None:
        spent = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        ran.ended = "out of time" if spent else f"exit status {process.exitcode}"
    elif code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and not ran.failed:
        ran.ended = f"pytest's exit status {code}"
    return ran


def _run(
    tree: str, arguments: list[str], chosen: tuple[list[str], list[str]], seconds: int, answer: Connection
) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    os.chdir(tree)
    os.environ["PYTHONPATH"] = tree  # of processes that tests start
    sys.path[:0] = [tree]
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.split(".")[0] in _PACKAGES]:
        del sys.modules[name]  # they are to come from the copy
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # xdist among them; most take longer to load than tests
    options = [f"--rootdir={tree}", "-p", "no:cacheprovider", "--tb=line", *_hypothesis()]
    ran, text = Ran(), io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        code = int(pytest.main([*options, *arguments], plugins=[_Watch(ran, chosen)]))
    package = sys.modules.get("focal_lib")
    if package is not None and not str(package.__file__).startswith(tree):
        raise ImportError(f"focal_lib must come from {tree}. Got {package.__file__}.")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    ran.cpu, ran.told = usage.ru_utime + usage.ru_stime, text.getvalue()[-2000:]
    with contextlib.suppress(BrokenPipeError):  # the run was killed
        answer.send((code, vars(ran)))  # its class is one of those dropped
    sys.stdout.flush()
    os._exit(0)  # what tests left running or registered is of no use here


def _end_with(server: int) -> None:
    """End where the run was killed, and the server with it."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(1)


def _hypothesis() -> list[str]:
    """The same examples in each run, none remembered, and no search for a smaller one that fails."""
    try:
        from hypothesis import Phase, settings
    except ImportError:
        return []
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", derandomize=True, database=None, deadline=None, phases=phases)
    return ["-p", "_hypothesis_pytestplugin", "--hypothesis-profile=mutants"]
