"""What `python -m MODULE ARGUMENTS` does, in a process that has imported the packages of a page already.

    python workflow/warm.py -m MODULE ARGUMENTS     by the server that `start` has begun, else as python -m
    python workflow/warm.py serve DESCRIPTOR ...    the server: imports packages once, and takes calls at that socket

Each page of a build imports PyTorch, SymPy and pandas for its kernel and papermill for itself, each run PyTorch and its
compiler: 5 seconds of a core a time. Here one process imports them, and a call is a fork of it: none sees what another
has done. It has the caller's arguments, folder, environment and open files; limits and priority are the server's.
Signals to the caller are passed on; if the caller is killed, so is its call, and with the server all of them. It ends
when its standard input does, which its starter holds.

A fork copies one thread alone, on macOS not even all of that, and what a GPU's driver has begun is lost in it: there is
a server on Linux without a GPU, and only where one thread is all there is after the imports.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import operator
import os
import runpy
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, NoReturn

AT = "FOCAL_WARM"  # the environment's name for the socket
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
NO_THREAD = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}  # of the memory allocator of pyarrow
# how names begin in the environment that Python and packages look up as they start
READ_ONCE = (*ONE_THREAD, "PYTHON", "LC_", "LANG", "MPLBACKEND")
PACKAGES = (
    *(
        "reproduction.ledger",
        "focal_lib.results",
        "reproduction.engine.fit",
        "reproduction.cli.run",
        "reproduction.cli.notebook",
    ),
    *(
        "reproduction.pages.execute",
        "reproduction.pages.html",
        "reproduction.pages.plots",
        "reproduction.pages.resolve",
    ),
    *("ipykernel.kernelapp", "matplotlib.pyplot", "torch._inductor.config"),
)
INLINE = "module://matplotlib_inline.backend_inline"  # what a kernel sets before its page imports matplotlib
KILLED = 128 + signal.SIGKILL
HEAD, PID = 8, 8  # bytes: before what is asked its length; the call's first word. The server's, one, is the exit status
PASSED_ON = (signal.SIGINT, signal.SIGTERM)
FILES = 3  # input, output, errors
PATIENCE = 2.0  # seconds for a caller to say what it asks
CANNOT_WRITE = 120  # Python's own exit status for it
GPUS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # of NVIDIA, of AMD, of either in a Windows machine's Linux
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Asked(NamedTuple):
    """A call: python -m module arguments, in a folder and an environment."""

    module: str
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    umask: int

    def run(self) -> NoReturn:
        """As the main program of this process, whose folder and environment these become, to its end.

        Python's own way to end would look at every object there is, and so copy all memory from the server: 2 seconds.
        """
        status = 1
        try:
            os.chdir(self.folder)
            os.environ.clear()
            os.environ.update(self.environment)
            os.umask(self.umask)
            time.tzset()
            tempfile.tempdir = None  # to be found anew
            sys.path[0] = self.folder
            sys.argv[1:] = self.arguments
            runpy.run_module(self.module, run_name="__main__", alter_sys=True)
            status = 0
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                status = end.code or 0
            else:
                print(end.code, file=sys.stderr)
        except BaseException as error:
            traceback.print_exc()
            status = 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
        with suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing's forks do
        with suppress(BaseException):
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError) as error:  # on a full disk, say
                status = CANNOT_WRITE
                with suppress(OSError):
                    os.write(2, f"{error}\n".encode())
        os._exit(status & 0xFF)


def main() -> None:
    match sys.argv[1:]:
        case ["-m", module, *arguments]:
            sys.exit(call(module, arguments))
        case ["serve", descriptor, *packages]:
            serve(socket.socket(fileno=int(descriptor)), packages).run()
        case other:
            expected = "-m MODULE ARGUMENTS or serve DESCRIPTOR PACKAGES"
            sys.exit(f"{expected} is expected. Got {' '.join(other) or 'nothing'}.")


def start(packages: Sequence[str] = PACKAGES) -> subprocess.Popen[bytes] | None:
    """Begin a server and tell it to later processes by the environment; it ends with this process, or at its `stdin`.

    Kernels named python3 are its calls, too. None on other systems than Linux, beside a GPU, and where a socket has no
    place, as the name of the folder for temporary files is too long.
    """
    if sys.platform != "linux" or any(map(os.path.exists, GPUS)):
        return None
    folder = Path(tempfile.mkdtemp(prefix="focal-"))
    me, at = str(Path(__file__).resolve()), str(folder / "socket")
    kernel = folder / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = [sys.executable, me, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}))
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(at)
        except OSError:
            shutil.rmtree(folder)
            return None
        listener.listen()  # who calls before the server is ready waits
        command = [sys.executable, me, "serve", str(listener.fileno()), *packages]
        environment = os.environ | ONE_THREAD | NO_THREAD
        server = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, pass_fds=[listener.fileno()])
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("JUPYTER_PATH"))))
    os.environ[AT] = at
    return server


def end(servers: Iterable[subprocess.Popen[bytes] | None]) -> None:
    """Have the servers end, and wait for it, so that their time counts as this process's."""
    for server in filter(None, servers):
        server.communicate()


def call(module: str, arguments: list[str]) -> int:
    """Have the module run by the server, and tell its exit status; without a server this process becomes the call.

    The status of a call that a signal ended is 128 and the signal's number, as a shell has it.
    """
    came: list[int] = []  # signals before there is a call to pass them on to
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in PASSED_ON}
    with socket.socket(socket.AF_UNIX) as server:
        try:
            pid = _ask(server, module, arguments, came)
        except OSError:
            pid = None
        if pid is None:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if handler == signal.SIG_IGN else signal.SIG_DFL)
            for sent in came:
                signal.raise_signal(sent)
            os.execv(sys.executable, [sys.executable, "-m", module, *arguments])
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: _signal(pid, number))
        for sent in came:
            _signal(pid, sent)
        _die_with_parent(signal.SIGTERM)
        while not _has_word(server):
            pass
        status = server.recv(1)
    if not status:
        print("Error: the server that this was a call of has ended", file=sys.stderr)
    elif status[0] == KILLED:
        print("Error: killed by signal 9, perhaps for want of memory", file=sys.stderr)
    return status[0] if status else KILLED


def _ask(server: socket.socket, module: str, arguments: list[str], came: list[int]) -> int | None:
    """The process id of the call; None where the server does not take it, or a signal came as it was waited for.

    Raises:
        OSError: there is no server, or the call could not have this process's input, output and errors.
    """
    if server.fileno() < FILES:
        raise OSError("one of this process's files is closed, and cannot be given")
    server.connect(os.environ.get(AT, ""))
    os.umask(umask := os.umask(0o077))
    whole = json.dumps(Asked(module, arguments, os.getcwd(), dict(os.environ), umask)).encode()
    socket.send_fds(server, [len(whole).to_bytes(HEAD, "big")], range(FILES))
    server.sendall(whole)
    while not _has_word(server):
        if came:
            return None
    said = server.recv(PID)
    return int.from_bytes(said, "big") if len(said) == PID else None


def _has_word(connection: socket.socket, seconds: float = 0.1) -> bool:
    """Whether there is something to read, or the end; within so long, as Python may miss a signal before it waits."""
    return bool(select.select([connection], [], [], seconds)[0])


def serve(listener: socket.socket, packages: Sequence[str]) -> Asked:
    """Take calls; at the end they are killed, and the socket's folder is removed. In a call: what was asked."""
    folder, server = Path(listener.getsockname()).parent, _Server(listener)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, for all of a build: its starter will end
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        _import(packages)
        return server.take_calls()
    finally:
        if os.getpid() == server.me:
            for pid in server.callers:
                _signal(pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)


def _import(packages: Sequence[str]) -> None:
    """All that is done once; the environment is as a kernel's where packages ask it when they are imported.

    Raises:
        SystemExit: one of them has begun a thread.
    """
    os.environ["MPLBACKEND"] = INLINE
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # of kernels
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    for name in packages:
        import_module(name)
    if (threads := len(os.listdir("/proc/self/task"))) > 1:
        sys.exit(f"{sys.argv[0]} needs one thread after its imports. Got {threads}: calls will be python -m.")


class _Server:
    """What forks: it has a connection to the caller of each call."""

    def __init__(self, listener: socket.socket) -> None:
        self.me, self.environment = os.getpid(), dict(os.environ)
        self.listener = listener
        self.ended, self.wake = socket.socketpair()  # readable when a call has ended
        self.wake.setblocking(False)
        self.callers: dict[int, socket.socket] = {}  # by the process id of the call
        self.ready = selectors.DefaultSelector()

    def take_calls(self) -> Asked:
        """Fork for each call, tell callers how calls ended, kill calls whose caller is gone. Returns in forks alone."""
        signal.signal(signal.SIGCHLD, lambda *_: None)  # or nothing would be written to the descriptor
        signal.set_wakeup_fd(self.wake.fileno(), warn_on_full_buffer=False)
        for source in (sys.stdin, self.listener, self.ended):
            self.ready.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in self.ready.select():
                if key.fileobj is sys.stdin:
                    sys.exit()
                elif key.fileobj is self.ended:
                    self.ended.recv(4096)
                    self.tell_ends()
                elif key.fileobj is self.listener:
                    if (asked := self.begin()) is not None:
                        return asked
                elif key.data in self.callers:  # they say nothing more: this one is gone
                    self.ready.unregister(key.fileobj)
                    _signal(key.data, signal.SIGKILL)

    def begin(self) -> Asked | None:
        """Fork for the caller that waits, or hang up. In the fork: what was asked."""
        try:
            caller, _ = self.listener.accept()
        except OSError:  # too many files, say: those that have calls will end
            time.sleep(0.1)
            return None
        files: list[int] = []
        try:
            caller.settimeout(PATIENCE)
            asked = _receive(caller, files)
            caller.settimeout(None)
            gone = _has_word(caller, 0)  # callers say nothing more
            pid = os.fork() if self.is_as_begun(asked) and not gone else None
        except (OSError, ValueError, TypeError):  # it was killed as it asked; or there is no room for a fork
            pid = None
        if pid == 0:
            self.become_call(caller, files)
            return asked
        for file in files:
            os.close(file)
        if pid is None:
            caller.close()
        else:
            self.callers[pid] = caller
            self.ready.register(caller, selectors.EVENT_READ, pid)
        return None

    def is_as_begun(self, asked: Asked) -> bool:
        """Whether what is read at once from the environment is for the caller what it was for the server."""
        return all(
            asked.environment.get(name) == self.environment.get(name)
            for name in asked.environment.keys() | self.environment
            if name.startswith(READ_ONCE)
        )

    def become_call(self, caller: socket.socket, files: list[int]) -> None:
        """A process group of its own, with the caller's files, which the caller can signal; it ends with the server."""
        signal.set_wakeup_fd(-1)
        self.ready.close()
        for connection in (*self.callers.values(), self.listener, self.ended, self.wake):
            connection.close()
        for place, file in enumerate(files):
            os.dup2(file, place)
            os.close(file)
        os.setsid()
        _die_with_parent(signal.SIGKILL, self.me)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        with caller, suppress(OSError):  # it is gone, and the server will see that, too
            caller.sendall(os.getpid().to_bytes(PID, "big"))
        for name, seed in (("numpy", "random.seed"), ("torch", "seed")):  # else each call would draw the same numbers
            if name in sys.modules:
                operator.attrgetter(seed)(sys.modules[name])()

    def tell_ends(self) -> None:
        """To each caller whose call has ended its exit status."""
        while self.callers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            caller, code = self.callers.pop(pid), os.waitstatus_to_exitcode(status)
            with suppress(KeyError):
                self.ready.unregister(caller)
            with suppress(OSError):  # it is gone
                caller.sendall(bytes([code if code >= 0 else 128 - code]))
            caller.close()


def _signal(call: int, number: int) -> None:
    """To a call and what it has begun, if it has not ended."""
    with suppress(ProcessLookupError):
        os.killpg(call, number)


def _receive(caller: socket.socket, files: list[int]) -> Asked:
    """What is asked; to `files` the caller's input, output and errors are added."""
    head, given, _, _ = socket.recv_fds(caller, HEAD, FILES)
    files += given
    with caller.makefile("rb") as stream:
        return Asked(*json.loads(stream.read(int.from_bytes(head, "big"))))


def _die_with_parent(number: int, parent: int | None = None) -> None:
    """A signal to this process when its parent dies; at once, if it is dead."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
        if parent is not None and os.getppid() != parent:
            os.kill(os.getpid(), number)


if __name__ == "__main__":
    main()
