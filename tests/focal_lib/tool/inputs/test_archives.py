"""npy and npz files read within bounds: as NumPy reads them, or refused with the reason."""

import io
import zipfile

import numpy as np
import pytest

from focal_lib.calibration.memory import _of_groups, available_memory, require_memory
from focal_lib.tool.inputs.archives import check_not_inflated, open_npz, read_npy
from focal_lib.tool.inputs.logits_file import read_logits

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


def group(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(str(content))


def test_memory_of_control_groups_is_that_of_the_narrowest_one_above(tmp_path):
    """Version 2: the own group has no limit, the one above has; cached files can go."""
    mount, own = tmp_path / "cgroup", tmp_path / "own"
    own.write_text("0::/slice/job/step\n")
    step = mount / "slice/job/step"
    group(step, memory__max="max", memory__high=2**40, memory__current=10**8, memory__stat="anon 5\ninactive_file 0\n")
    group(step.parent, memory__max=9 * 10**8, memory__current=5 * 10**8, memory__stat="inactive_file 100000000\n")
    group(mount / "slice", memory__max=10**12, memory__current=6 * 10**8, memory__stat="inactive_file 0\n")
    assert min(_of_groups(mount, own)) == 5 * 10**8
    (step.parent / "memory.max").write_text("max")
    (step.parent / "memory.high").write_text(str(8 * 10**8))
    assert min(_of_groups(mount, own)) == 4 * 10**8


def test_memory_of_control_groups_of_version_1_and_of_containers(tmp_path):
    mount, own = tmp_path / "cgroup", tmp_path / "own"
    own.write_text("5:cpu,cpuacct:/\n4:memory:/docker/abc\n0::/\n")
    files = {"memory__limit_in_bytes": 9 * 10**8, "memory__usage_in_bytes": 10**8}
    group(mount / "memory", **files, memory__stat="total_inactive_file 5\n")  # the container's own, as its root
    assert list(_of_groups(mount, own)) == [8 * 10**8 + 5]
    group(mount / "memory/docker/abc", **files | {"memory__limit_in_bytes": 2 * 10**8}, memory__stat="")
    assert min(_of_groups(mount, own)) == 10**8
    assert list(_of_groups(mount, tmp_path / "none")) == []


def test_names_as_objects_are_told_how_to_be_saved(tmp_path):
    labels = np.array(["a", "b"] * 5, dtype=object)
    np.savez(tmp_path / "x.npz", logits=np.zeros((10, 2)), labels=labels)
    with pytest.raises(
        ValueError, match=r"labels in x\.npz .* objects or records: save names as text, .*--class-names"
    ):
        read_logits(tmp_path / "x.npz")


def test_arrays_of_other_machines_and_single_numbers(tmp_path):
    z = np.random.default_rng(0).normal(size=(10, 3))
    np.savez(tmp_path / "x.npz", logits=z.astype(">f4"), labels=np.arange(10, dtype=">i8") % 3)
    assert read_logits(tmp_path / "x.npz")["all"].labels.tolist() == [i % 3 for i in range(10)]
    np.savez(tmp_path / "x.npz", logits=z, labels=np.int64(1))
    with pytest.raises(ValueError, match=r"labels must be one for each sample\. Got one number"):
        read_logits(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", logits=np.float64(1), labels=np.int64(1))
    with pytest.raises(ValueError, match="logits must be numbers, of samples that there are"):
        read_logits(tmp_path / "x.npz")
