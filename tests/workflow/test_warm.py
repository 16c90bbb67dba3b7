"""A call of the server is `python -m`, but for the imports: nothing else may show."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from reproduction.checkout import ROOT
from workflow import warm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the server serves on Linux")
CALLER = [sys.executable, str(ROOT / "workflow" / "warm.py"), "-m"]
IS_WARM = "import sys; print('sympy' in sys.modules, flush=True)\n"  # which these programs do not import


@pytest.fixture
def serving(monkeypatch):
    """Begin a server for the calls of this test; it is ended after it."""
    monkeypatch.setenv("JUPYTER_PATH", "")
    for name, value in warm.ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(warm.AT, "")
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    begun = []

    def begin(*packages: str) -> subprocess.Popen[bytes]:
        begun.append(warm.start(packages))
        return begun[-1]

    yield begin
    warm.end(server for server in begun if not server.stdin.closed)


WAIT = "import time\nfor _ in range(6000): time.sleep(0.1)"  # Python may miss a signal just before it waits
KILLED = "Error: killed by signal 9, perhaps for want of memory\n"


def run(folder: Path, program: str, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
    """Call the program from that folder."""
    (folder / "program.py").write_text(program)
    command = [*CALLER, "program", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, **options)


def begin(folder: Path, program: str) -> subprocess.Popen[str]:
    """Begin a call that says its process id, and wait for that."""
    (folder / "program.py").write_text(f"import os; print(os.getpid(), flush=True)\n{program}")
    return subprocess.Popen([*CALLER, "program"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def has_ended(pid: int) -> bool:
    """Within a quarter of a minute."""
    for _ in range(150):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":  # ended, though nobody has asked how
            return True
        time.sleep(0.1)
    return False


def test_a_call_has_all_that_its_caller_has(serving, tmp_path):
    serving("sympy")
    program = IS_WARM + (
        "import os; print(sys.argv[1:], __name__, os.getcwd() == sys.path[0], os.environ['TOLD'], sys.stdin.read())\n"
        "print('wrong', file=sys.stderr)"
    )
    found = run(tmp_path, program, "a b", "c", input="asked", env=os.environ | {"TOLD": "é"})
    assert found.stdout == "True\n['a b', 'c'] __main__ True é asked\n"
    assert (found.stderr, found.returncode) == ("wrong\n", 0)
    assert run(tmp_path, "import sys; print(sys.argv[0])").stdout.strip() == str(tmp_path / "program.py")


@pytest.mark.parametrize(
    ("program", "status", "said"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit('no such page')", 1, "no such page\n"),
        ("import sys; sys.exit([2])", 1, "[2]\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL, KILLED),
        ("import atexit, sys; atexit.register(print, 'left', file=sys.stderr)", 0, "left\n"),
        ("import os; os.remove('nothing')", 1, "FileNotFoundError: [Errno 2] No such file or directory: 'nothing'\n"),
    ],
)
def test_how_a_call_ends_is_how_its_caller_ends(serving, tmp_path, program, status, said):
    serving("sympy")
    found = run(tmp_path, IS_WARM + program)
    assert (found.stdout, found.returncode) == ("True\n", status)
    assert found.stderr.endswith(said)
    assert bool(found.stderr) == bool(said)


def test_no_call_sees_another(serving, tmp_path):
    serving("numpy.random", "torch", "sympy")
    numbers = "numpy.random.rand(), random.random(), torch.rand(1).item()"
    program = f"import numpy, random, sympy, torch; print(getattr(sympy, 'mark', None), {numbers}); sympy.mark = 1"
    first, second = (run(tmp_path, program).stdout.split() for _ in range(2))
    assert first[0] == second[0] == "None"
    assert len(first) == 4
    assert not set(first[1:]) & set(second)


TELL = """
import json, os, signal, sys, tempfile, time
told = {
    "environment": dict(os.environ),
    "files": len(os.listdir("/proc/self/fd")),
    "folder for temporary files": tempfile.gettempdir(),
    "mask": os.umask(0),
    "path": sys.path[0],
    "signals": [str(signal.getsignal(n)).split(" at ")[0] for n in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
    "zone": time.tzname,
}
print(json.dumps(told))
"""


def test_a_call_is_as_python_m_would_be(serving, tmp_path, monkeypatch):
    monkeypatch.setenv("OF_THE_SERVER", "1")
    serving("sympy")
    monkeypatch.delenv("OF_THE_SERVER")
    other = os.environ | {"TZ": "Asia/Tokyo", "TMPDIR": str(tmp_path), "TOLD": "é"}
    kept = begin(tmp_path, WAIT)  # whose connection is no other call's
    kept.stdout.readline()
    told = [
        json.loads(run(tmp_path, TELL, env=other | {warm.AT: at}, umask=0o027).stdout)
        for at in (os.environ[warm.AT], "nobody")
    ]
    for one in told:
        del one["environment"][warm.AT]
    assert told[0] == told[1]
    assert told[0]["mask"] == 0o027
    kept.kill()
    kept.communicate()


def test_calls_run_side_by_side(serving, tmp_path):
    serving("sympy")
    program = "import pathlib, sys, time\nwhile not pathlib.Path('let go').exists(): time.sleep(0.01)"
    (tmp_path / "waiting").mkdir()
    waiting = begin(tmp_path / "waiting", program)
    waiting.stdout.readline()
    assert run(tmp_path, IS_WARM).stdout == "True\n"
    assert waiting.poll() is None
    (tmp_path / "waiting" / "let go").touch()
    assert waiting.wait(60) == 0
    waiting.communicate()


def test_without_a_server_it_is_python_m(tmp_path, monkeypatch):
    monkeypatch.delenv(warm.AT, raising=False)
    assert run(tmp_path, IS_WARM).stdout == "False\n"
    assert run(tmp_path, IS_WARM, env=os.environ | {warm.AT: str(tmp_path / "nobody")}).stdout == "False\n"


def test_who_asks_in_pieces_or_not_to_the_end_harms_nobody(serving, tmp_path):
    serving("sympy")
    for said in (b"", b"123", (100).to_bytes(warm.HEAD, "big") + b"[1, "):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(os.environ[warm.AT])
            caller.sendall(said)
    assert run(tmp_path, IS_WARM).stdout == "True\n"


@pytest.mark.parametrize("why", ["a GPU", "a long name"])
def test_where_there_can_be_no_server_there_is_none(tmp_path, monkeypatch, why):
    monkeypatch.setenv(warm.AT, "as before")
    if why == "a GPU":
        monkeypatch.setattr(warm, "GPUS", (str(tmp_path),))
    else:
        (tmp_path / ("long" * 25)).mkdir()
        monkeypatch.setattr(warm.tempfile, "tempdir", str(tmp_path / ("long" * 25)))
    assert warm.start() is None
    assert os.environ[warm.AT] == "as before"
    assert not list(tmp_path.rglob("focal-*"))


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "PYTHONHASHSEED", "PYTHONPATH", "LC_ALL", "MPLBACKEND"])
def test_where_python_or_a_package_would_have_begun_otherwise_it_is_python_m(serving, tmp_path, name):
    serving("sympy")
    assert run(tmp_path, IS_WARM, env=os.environ | {name: "2"}).stdout == "False\n"
    assert run(tmp_path, IS_WARM).stdout == "True\n"


def test_a_package_that_begins_a_thread_is_no_package_to_fork_with(serving, tmp_path, monkeypatch, capfd):
    (tmp_path / "threads.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = serving("sympy", "threads")
    assert run(tmp_path, IS_WARM).stdout == "False\n"
    assert "needs one thread after its imports. Got 2" in capfd.readouterr().err
    assert not Path(os.environ[warm.AT]).parent.exists()
    assert server.wait(60) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_caller_is_one_to_the_call(serving, tmp_path, number):
    serving("sympy")
    caller = begin(tmp_path, WAIT)
    pid = int(caller.stdout.readline())
    caller.send_signal(number)
    _, said = caller.communicate(timeout=60)
    assert caller.returncode == 128 + number
    assert ("KeyboardInterrupt" in said) == (number == signal.SIGINT)
    assert has_ended(pid)


def test_a_call_ends_with_its_caller_and_with_the_server(serving, tmp_path):
    server = serving("sympy")
    first = begin(tmp_path, WAIT)
    of_first = int(first.stdout.readline())
    first.kill()
    assert has_ended(of_first)
    second = begin(tmp_path, WAIT)
    of_second = int(second.stdout.readline())
    folder = Path(os.environ[warm.AT]).parent
    server.stdin.close()  # as when its starter ends, however it ends
    assert server.wait(60) == 0
    assert has_ended(of_second)
    assert second.wait(60) == 128 + signal.SIGKILL
    assert not folder.exists()
    for caller in (first, second):
        caller.communicate()


def test_a_call_is_killed_whatever_it_does_with_signals(serving, tmp_path):
    serving("sympy")
    caller = begin(
        tmp_path, f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\n{WAIT}"
    )
    pid = int(caller.stdout.readline())
    caller.stdout.readline()
    caller.kill()
    assert has_ended(pid)
    caller.communicate()


def test_a_caller_ends_with_who_began_it(serving, tmp_path):
    """As the kernel of a page that is killed."""
    serving("sympy")
    (tmp_path / "program.py").write_text(f"import os; print(os.getpid(), flush=True)\n{WAIT}")
    beginner = f"import subprocess; subprocess.Popen({[*CALLER, 'program']}, start_new_session=True).wait()"
    page = subprocess.Popen([sys.executable, "-c", beginner], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    pid = int(page.stdout.readline())
    page.kill()
    assert has_ended(pid)
    page.communicate()


def test_a_signal_before_there_is_a_call_ends_the_caller(serving, tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(
        f"import pathlib, time\nwhile not pathlib.Path('{tmp_path}/go').exists(): time.sleep(0.01)"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    serving("sympy", "slow")
    (tmp_path / "program.py").write_text("import pathlib; pathlib.Path('begun').touch()")
    caller = subprocess.Popen([*CALLER, "program"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)  # it waits for the server by now; before that a signal ends it, too
    caller.send_signal(signal.SIGTERM)
    assert caller.wait(60) == -signal.SIGTERM
    (tmp_path / "go").touch()
    assert caller.communicate()[1] == ""
    assert run(tmp_path, IS_WARM).stdout == "True\n"
    assert not (tmp_path / "begun").exists()  # for nobody


def test_the_interrupt_of_a_terminal_leaves_the_server(serving, tmp_path):
    server = serving("sympy")
    assert run(tmp_path, IS_WARM).stdout == "True\n"
    server.send_signal(signal.SIGINT)
    assert run(tmp_path, IS_WARM).stdout == "True\n"


def test_a_server_that_is_ended_takes_its_calls_and_its_folder_along(serving, tmp_path):
    server = serving("sympy")
    caller = begin(tmp_path, f"import subprocess; print(subprocess.Popen(['sleep', '600']).pid, flush=True)\n{WAIT}")
    pids = [int(caller.stdout.readline()) for _ in range(2)]
    server.terminate()
    assert server.wait(60) == 0
    assert all(map(has_ended, pids))
    assert not Path(os.environ[warm.AT]).parent.exists()
    assert caller.communicate()[1] in (KILLED, "Error: the server that this was a call of has ended\n")
    assert caller.returncode == 128 + signal.SIGKILL


def test_threads_are_waited_for(serving, tmp_path):
    serving("sympy")
    program = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()"
    assert run(tmp_path, IS_WARM + program).stdout == "True\nlate\n"


def test_what_could_not_be_written_is_no_success(serving, tmp_path):
    serving("sympy")
    (tmp_path / "program.py").write_text("print('lost')")
    with open("/dev/full", "w") as full:
        found = subprocess.run([*CALLER, "program"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (found.returncode, found.stderr) == (warm.CANNOT_WRITE, "[Errno 28] No space left on device\n")


def test_without_input_it_is_python_m(serving, tmp_path):
    serving("sympy")
    (tmp_path / "program.py").write_text(IS_WARM)
    shell = f"{shlex.join([*CALLER, 'program'])} <&-"
    assert subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True).stdout == "False\n"


def test_who_says_nothing_holds_nobody_up_for_long(serving, tmp_path):
    serving("sympy")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(os.environ[warm.AT])
        assert run(tmp_path, IS_WARM).stdout == "True\n"
        assert silent.recv(1) == b""


def test_what_is_asked_must_be_one_of_two():
    said = subprocess.run([*CALLER[:2], "-c", "1"], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (
        1,
        "-m MODULE ARGUMENTS or serve DESCRIPTOR PACKAGES is expected. Got -c 1.\n",
    )


@pytest.mark.slow
def test_a_page_and_its_kernel_are_calls_and_show_what_they_show_without(serving, tmp_path):
    server = serving(*warm.PACKAGES)
    pages, kernels = {}, {}
    for name in ("warm", "cold"):
        out = tmp_path / f"{name}.ipynb"
        command = [*CALLER, "focal_lib.cli", "notebook", "05_simplex", "--for-book", "--out", str(out)]
        caller = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        kernels[name] = 0
        while caller.poll() is None:
            kernels[name] = max(kernels[name], len(children(server.pid)))
            time.sleep(0.05)
        assert caller.returncode == 0
        *cells, made = nbformat.read(out, as_version=4).cells
        assert "Run time: " in made.outputs[0].data["text/markdown"]  # another one
        pages[name] = [(cell.source, cell.get("outputs")) for cell in cells]
        os.environ[warm.AT] = ""
        os.environ["JUPYTER_PATH"] = ""
    assert kernels == {"warm": 2, "cold": 0}
    assert pages["warm"] == pages["cold"]


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
