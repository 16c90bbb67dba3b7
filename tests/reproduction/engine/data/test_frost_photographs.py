"""The photographs of frost: from a folder, an installed package, a wheel that is made up; no network."""

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from reproduction.engine.data import frost_photographs as frost
from reproduction.engine.data import places

PICTURES = [
    np.random.default_rng(k).integers(0, 256, (20 + k, 31 - 2 * k, 4 if k < 3 else 3), dtype=np.uint8) for k in range(5)
]


def content(picture):
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")  # whatever the name: Pillow looks at the content
    return buffer.getvalue()


@pytest.fixture
def files(monkeypatch, tmp_path):
    """Contents by name, whose checksums are expected; nothing is installed, given or kept."""
    found = dict(zip(frost.FILES, map(content, PICTURES), strict=True))
    monkeypatch.setattr(frost, "FILES", {name: hashlib.sha256(bytes_).hexdigest() for name, bytes_ in found.items()})
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    frost._read.cache_clear()
    yield found
    frost._read.cache_clear()


@pytest.fixture
def asked(pip, files):
    """What pip was asked, which leaves a wheel with the files."""
    return pip(lambda: {f"{frost.PACKAGE}/frost/{name}": bytes_ for name, bytes_ in files.items()})


def put(folder, files):
    folder.mkdir(parents=True)
    for name, bytes_ in files.items():
        (folder / name).write_bytes(bytes_)


def check(found):
    """A fifth by linear interpolation without antialiasing, pixels being squares; transparency dropped."""
    for picture, photograph in zip(PICTURES, found, strict=True):
        height, width = (round(side / 5) for side in picture.shape[:2])
        assert photograph.shape == (height, width, 3)
        rows, columns = ((np.arange(side) + 0.5) * 5 - 0.5 for side in (height, width))
        for colour in range(3):
            at = np.stack([np.interp(rows, np.arange(len(line)), line) for line in picture[..., colour].T], 1)
            wanted = [np.interp(columns, np.arange(len(line)), line) for line in at]
            np.testing.assert_array_equal(photograph[..., colour], wanted)


def test_from_the_wheel_once_without_what_it_depends_on(asked):
    check(frost.frost_photographs())
    frost._read.cache_clear()
    check(frost.frost_photographs())
    (command,) = asked
    assert command[1:4] == ["-m", "pip", "download"]
    assert "--no-deps" in command
    assert command[-1] == frost.WHEEL == "imagecorruptions==1.1.2"


def test_a_folder_that_is_given_comes_first(files, asked, monkeypatch, tmp_path):
    put(tmp_path / "mine" / "frost", files)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "mine"))
    check(frost.frost_photographs())
    assert not asked


def test_another_content_is_refused(files, asked, monkeypatch, tmp_path):
    put(tmp_path / "mine" / "frost", files | {"frost3.png": content(PICTURES[2][::-1])})
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "mine"))
    with pytest.raises(ValueError, match=r"frost3.png must have SHA-256 \w{64}. Got \w{64}"):
        frost.frost_photographs()
    (tmp_path / "mine" / "frost" / "frost1.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"must hold frost1.png, .* Got no frost1.png"):
        frost.frost_photographs()
    monkeypatch.delenv("FOCAL_DATA")
    files["frost5.jpg"] = content(PICTURES[0])
    with pytest.raises(FileNotFoundError, match=r"frost was not found. Put frost1.png.*must have SHA-256"):
        frost.frost_photographs()
    assert not places.cache("frost").exists()


@pytest.mark.usefixtures("files", "pip_fails")
def test_pip_that_fails_is_a_reason():
    with pytest.raises(FileNotFoundError, match=r"FOCAL_DATA/frost, or let .*: no such host"):
        frost.frost_photographs()
