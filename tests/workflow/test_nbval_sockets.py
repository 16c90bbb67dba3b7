"""nbval's kernels share no address: over TCP, parallel workers raced for ports, and a kernel died."""

import os
from pathlib import Path

import pytest

from workflow.nbval_sockets import SocketKernelManager

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Unix sockets")


def test_two_kernels_share_no_address():
    a, b = SocketKernelManager(), SocketKernelManager()
    assert a.transport == b.transport == "ipc"
    assert Path(a.ip).parent != Path(b.ip).parent
    for manager in (a, b):
        manager.cleanup_ipc_files()
        assert not Path(manager.ip).parent.exists()


@pytest.mark.slow
def test_nbval_starts_its_kernels_so_and_they_answer():
    from nbval import kernel

    running = kernel.RunningKernel("python3")
    folder = Path(running.km.ip).parent
    try:
        assert isinstance(running.km, SocketKernelManager)
        message = running.execute_cell_input("1 + 1")
        running.await_reply(message, timeout=30)  # raises where none comes
        assert any(folder.iterdir())
    finally:
        running.stop()
    assert not folder.exists()
