"""What a run is computed on: as Linux names processors, and where it does not."""

from pathlib import Path

import pytest

from reproduction.engine import machine
from reproduction.engine.machine import processor_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu sse2\n\nprocessor\t: 1\n", "AMD EPYC 9654"),
        ("processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd40\n\nHardware\t: Neoverse\n", "Neoverse"),
        ("model name: x\n", "x"),
    ],
)
def test_what_linux_says_of_a_processor(tmp_path, monkeypatch, text, name):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(machine, "Path", lambda name: tmp_path / Path(name).name)
    assert processor_name() == name
    (tmp_path / "cpuinfo").unlink()
    assert processor_name()
