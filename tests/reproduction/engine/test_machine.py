"""What a run is computed on: what Linux says of processors, as their makers name things."""

from pathlib import Path

import pytest

from reproduction.engine import machine
from reproduction.engine.machine import computes_bf16, processor_name

AMD = "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu sse2 avx512f {}\n\nprocessor\t: 1\n"
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd {}\nCPU part\t: 0xd40\n\nHardware\t: Neoverse\n"


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Lets the system say that of its processor."""

    def say(text):
        (tmp_path / "cpuinfo").write_text(text)
        monkeypatch.setattr(machine, "Path", lambda name: tmp_path / Path(name).name)

    return say


@pytest.mark.parametrize(
    ("text", "bf16", "name"),
    [
        (AMD.format("avx512_bf16 gfni"), True, "AMD EPYC 9654"),
        (AMD.format("amx_bf16 amx_tile"), True, "AMD EPYC 9654"),
        (AMD.format("gfni"), False, "AMD EPYC 9654"),
        (ARM.format("i8mm bf16"), True, "Neoverse"),
        (ARM.format("i8mm"), False, "Neoverse"),
        ("model name: x\n", None, "x"),
    ],
)
def test_what_linux_says_of_a_processor(system, text, bf16, name):
    system(text)
    assert computes_bf16() is bf16
    assert processor_name() == name


def test_another_system_says_nothing_of_bf16(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "Path", lambda name: tmp_path / "none")
    assert computes_bf16() is None
    assert processor_name()
