"""npy and npz files read within bounds: as NumPy reads them, or refused with the reason."""

import io
import zipfile

import numpy as np
import pytest

from focal_lib.calibration.memory import available_memory, require_memory
from focal_lib.tool.inputs.archives import check_not_inflated, open_npz, read_npy

ARRAYS = {
    "rows": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(12, dtype=np.int16).reshape(3, 4)),
    "big-endian": np.arange(5, dtype=">f4"),
    "names": np.array(["cat", "Ärger"]),
    "one": np.float32(3),
    "none": np.zeros((0, 4)),
    "truth": np.array([True, False]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_numpys(tmp_path, name):
    array = ARRAYS[name]
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", array=array)
    with open_npz(tmp_path / "a.npz") as file:
        assert file.names == {"array"}
        found = (file["array"], read_npy(tmp_path / "a.npy"), read_npy(tmp_path / "a.npy", mapped=True))
    for own in found:
        assert own.dtype == array.dtype
        np.testing.assert_array_equal(own, array)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(np.zeros(9))[:-1], r"Its header says float64 \(9,\), 72 bytes; only 71 follow"),
        (npy(np.zeros(9)) + b"0", r"Its header says float64 \(9,\), 72 bytes; 73 follow"),
        (npy(np.zeros(3, [("a", "f8")])), "holds objects or records"),
        (npy(np.array([None])), "holds objects or records"),
        (b"PK\x03\x04", "It is not"),
    ],
)
def test_what_is_no_array(tmp_path, content, message):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ValueError, match=rf"a\.npy must be an npy file of numbers\. .*{message}"):
        read_npy(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("array.npy", content)
    with open_npz(tmp_path / "a.npz") as file, pytest.raises(ValueError, match=r"array in a\.npz must be an array of"):
        file["array"]


def test_names_that_stand_twice_or_cannot_be_shown(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        for name in ("x.npy", "a\nb.npy"):
            file.writestr(name, npy(np.zeros(3)))
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("x.npy", npy(np.ones(3)))
    with open_npz(tmp_path / "a.npz") as file:
        assert file.names == {"x", "a?b"}
        with pytest.raises(ValueError, match="more than once"):
            file["x"]


def test_folders_and_devices_are_no_files(tmp_path):
    for path in (tmp_path, "/dev/zero"):
        with pytest.raises(ValueError, match=r"must be a file\. Got a folder, a pipe or a device"):
            read_npy(type(tmp_path)(path))


def test_memory_there_is():
    assert 10**6 < available_memory() < 10**15
    require_memory(10**5, "x")
    with pytest.raises(ValueError, match=r"x must fit into memory: 1e\+09 GB\. Got .* GB available"):
        require_memory(10**18, "x")


def test_what_is_inflated():
    check_not_inflated(2**28, 1, "x")
    check_not_inflated(2**32, 2**25, "x")
    with pytest.raises(ValueError, match=r"x and not 4,295 MB out of 4\.19"):
        check_not_inflated(2**32, 2**22, "x")
