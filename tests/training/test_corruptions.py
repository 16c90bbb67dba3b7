"""CIFAR-10-C's corruptions: what each leaves alone, and colours against the standard library's HSV."""

import colorsys

import numpy as np
import pytest

from focal_lib.training import data
from focal_lib.training.data import corruptions

RNG = np.random.default_rng(1)
IMAGES = RNG.integers(0, 256, (6, 32, 32, 3), dtype=np.uint8)
SMOOTH = np.broadcast_to(np.linspace(20, 220, 32).astype(np.uint8)[:, None, None], (4, 32, 32, 3)).copy()
FLAT = np.full((2, 32, 32, 3), 100, np.uint8)


@pytest.mark.parametrize("name", corruptions.CORRUPTIONS)
def test_same_type_and_shape_seeded_and_stronger_with_severity(name):
    done = [corruptions.corrupt(SMOOTH, name, severity) for severity in (1, 5)]
    assert done[0].dtype == np.uint8
    assert done[0].shape == SMOOTH.shape
    np.testing.assert_array_equal(done[0], corruptions.corrupt(SMOOTH, name, 1))
    change = [np.abs(d.astype(float) - SMOOTH).mean() for d in done]
    if name not in ("saturate", "pixelate"):  # grey stays grey; smooth stays smooth
        assert change[1] > change[0] > 0


@pytest.mark.parametrize(
    "name", ["gaussian-blur", "defocus-blur", "zoom-blur", "contrast", "pixelate", "jpeg-compression"]
)
def test_a_flat_image_stays_flat(name):
    assert np.abs(corruptions.corrupt(FLAT, name, 5).astype(int) - 100).max() <= 1


@pytest.mark.parametrize(
    "name", ["gaussian-blur", "defocus-blur", "zoom-blur", "contrast", "pixelate", "jpeg-compression", "brightness"]
)
def test_a_grey_image_is_one_channel_of_its_colour_image(name):
    """With jpeg up to what its colour space rounds away."""
    grey = IMAGES[..., :1]
    for severity in (1, 5):
        found = corruptions.corrupt(grey, name, severity).astype(int)
        wanted = corruptions.corrupt(np.repeat(grey, 3, axis=-1), name, severity)[..., :1].astype(int)
        assert np.abs(found - wanted).max() <= (3 if name == "jpeg-compression" else 1)


def test_noise_has_the_stated_size():
    flat = np.full((40, 32, 32, 3), 128, np.uint8)
    for severity, scale in enumerate((0.04, 0.06, 0.08, 0.09, 0.10), start=1):
        found = corruptions.corrupt(flat, "gaussian-noise", severity).astype(float).std() / 255
        assert found == pytest.approx(scale, rel=0.02)
    hit = corruptions.corrupt(flat, "impulse-noise", 5)
    assert (hit != 128).mean() == pytest.approx(0.07, rel=0.05)
    assert set(np.unique(hit)) == {0, 128, 255}
    shot = corruptions.corrupt(flat, "shot-noise", 5).astype(float) / 255
    assert shot.std() == pytest.approx(np.sqrt(128 / 255 / 50), rel=0.05)  # a Poisson variance


def hsv(pixel, change):
    return np.array(colorsys.hsv_to_rgb(*change(*colorsys.rgb_to_hsv(*(pixel / 255.0)))))


@pytest.mark.parametrize("severity", [1, 3, 5])
def test_brightness_and_saturation_against_colorsys(severity):
    pixels = np.concatenate([IMAGES[0, :3].reshape(-1, 3), [[0, 0, 0], [255, 255, 255], [7, 7, 7]]]).astype(np.uint8)
    image = np.tile(pixels, (1, 1, 1, 1))
    added = corruptions.CORRUPTIONS["brightness"][1][severity - 1]
    times, plus = corruptions.CORRUPTIONS["saturate"][1][severity - 1]
    bright = corruptions.corrupt(image, "brightness", severity)[0, 0] / 255.0
    vivid = corruptions.corrupt(image, "saturate", severity)[0, 0] / 255.0
    for pixel, one, two in zip(pixels, bright, vivid, strict=True):
        wanted = hsv(pixel, lambda h, s, v: (h, s, min(v + added, 1)))
        np.testing.assert_allclose(one, wanted, atol=1.01 / 255)
        wanted = hsv(pixel, lambda h, s, v: (h, min(s * times + plus, 1), v))
        np.testing.assert_allclose(two, wanted, atol=1.01 / 255)


def test_bad_input():
    with pytest.raises(ValueError, match="corruption must be one of gaussian-noise"):
        corruptions.corrupt(IMAGES, "frost", 1)
    with pytest.raises(ValueError, match=r"severity must be 1 to 5. Got 6"):
        corruptions.corrupt(IMAGES, "contrast", 6)
    with pytest.raises(ValueError, match=r"for saturate must be uint8 of shape \(n, H, W, 3\)"):
        corruptions.corrupt(IMAGES[..., :1], "saturate", 1)
    with pytest.raises(ValueError, match=r"must be uint8 of shape \(n, H, W, 1 or 3\)"):
        corruptions.corrupt(IMAGES[..., :2], "contrast", 1)


def test_as_a_data_set(write_npz, tmp_path, monkeypatch):
    write_npz(tmp_path / "cifar10", shape=(32, 32, 3))
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    clean, corrupted = data.load("cifar10"), data.load("cifar10-c-jpeg-compression-4")
    np.testing.assert_array_equal(corrupted.train.inputs, clean.train.inputs)
    np.testing.assert_array_equal(corrupted.test.inputs, data.corrupt(clean.test.inputs, "jpeg-compression", 4))
    with pytest.raises(ValueError, match="must read cifar10-c-<corruption>-<severity 1 to 5>"):
        data.load("cifar10-c-contrast")
