"""A pytest plugin: nbval's kernels talk over Unix sockets, each in a folder of its own.

    pytest -p workflow.nbval_sockets --nbval-lax ...

Over TCP, the kernels of parallel test workers race for free ports, and the loser dies: 'Kernel died before replying to
kernel_info'. The notebooks of the book run over sockets for the same reason (reproduction/pages/execute.py).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from jupyter_client.manager import KernelManager
from nbval import kernel


class SocketKernelManager(KernelManager):
    """A kernel manager whose kernel has a folder of sockets, removed with the kernel."""

    def __init__(self, **kwargs: Any) -> None:
        self._folder = tempfile.mkdtemp(prefix="focal-")
        super().__init__(transport="ipc", ip=f"{self._folder}/kernel", **kwargs)

    def cleanup_ipc_files(self) -> None:
        """Remove the folder, too."""
        super().cleanup_ipc_files()
        shutil.rmtree(self._folder, ignore_errors=True)


if os.name == "posix":
    kernel.KernelManager = SocketKernelManager
