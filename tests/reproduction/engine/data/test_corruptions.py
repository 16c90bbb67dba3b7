"""CIFAR-10-C's corruptions: what each leaves alone; colours, shuffles, fractals and lines against slow definitions."""

import colorsys
import math

import numpy as np
import pytest
from scipy import ndimage

from reproduction.engine import data
from reproduction.engine.data import corruption_kinds as kinds
from reproduction.engine.data import corruptions

RNG = np.random.default_rng(1)
IMAGES = RNG.integers(0, 256, (6, 32, 32, 3), dtype=np.uint8)
SMOOTH = np.broadcast_to(np.linspace(20, 220, 32).astype(np.uint8)[:, None, None], (4, 32, 32, 3)).copy()
FLAT = np.full((2, 32, 32, 3), 100, np.uint8)


pytestmark = pytest.mark.usefixtures("photographs")


@pytest.mark.parametrize("name", corruptions.CORRUPTIONS)
def test_same_type_and_shape_seeded_and_stronger_with_severity(name):
    done = [corruptions.corrupt(SMOOTH, name, severity) for severity in (1, 5)]
    assert done[0].dtype == np.uint8
    assert done[0].shape == SMOOTH.shape
    np.testing.assert_array_equal(done[0], corruptions.corrupt(SMOOTH, name, 1))
    change = [np.abs(d.astype(float) - SMOOTH).mean() for d in done]
    if name in ("elastic-transform", "frost"):  # the field moves more, the corners less; frost darkens, then brightens
        assert min(change) > 0
    elif name != "pixelate":  # smooth stays smooth
        assert change[1] > change[0] > 0
    if name in ("glass-blur", "motion-blur", "snow", "frost", "fog", "elastic-transform"):
        another = corruptions.corrupt(SMOOTH, name, 5, seed=1)
        assert (another != done[1]).any()
        assert (done[1][0] != done[1][1]).any()  # images that are equal, each with its own


def test_kinds_are_those_of_cifar10_c():
    names = [name for kind in corruptions.CORRUPTION_KINDS.values() for name in kind]
    assert len(names) == len(set(names)) == 15
    assert set(corruptions.CORRUPTIONS) - set(names) == {"gaussian-blur"}


@pytest.mark.parametrize("factor", [1.0, 1.01, 1.06, 1.11, 1.26, 1.75, 2.25])
@pytest.mark.parametrize("size", [28, 32])
def test_enlarged_as_scipy_does(size, factor):
    x = np.random.default_rng(0).random((2, size, size, 3))
    side = int(np.ceil(size / factor))
    start = (size - side) // 2
    zoomed = ndimage.zoom(x[:, start : start + side, start : start + side], (1, factor, factor, 1), order=1)
    cut = (zoomed.shape[1] - size) // 2
    assert np.abs(kinds.enlarge(x, factor) - zoomed[:, cut : cut + size, cut : cut + size]).max() < 1e-12


MIXED = ["gaussian-blur", "defocus-blur", "zoom-blur", "glass-blur", "motion-blur", "elastic-transform"]


@pytest.mark.parametrize("name", [*MIXED, "contrast", "pixelate", "jpeg-compression"])
def test_a_flat_image_stays_flat(name):
    assert np.abs(corruptions.corrupt(FLAT, name, 5).astype(int) - 100).max() <= 1


@pytest.mark.parametrize("name", [*MIXED, "contrast", "pixelate", "jpeg-compression", "brightness", "snow", "fog"])
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


@pytest.mark.parametrize("severity", [1, 3, 5])
def test_brightness_against_colorsys(severity):
    pixels = np.concatenate([IMAGES[0, :3].reshape(-1, 3), [[0, 0, 0], [255, 255, 255], [7, 7, 7]]]).astype(np.uint8)
    added = corruptions.CORRUPTIONS["brightness"][1][severity - 1]
    bright = corruptions.corrupt(pixels[None, None], "brightness", severity)[0, 0] / 255.0
    for pixel, found in zip(pixels, bright, strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*(pixel / 255.0))
        wanted = colorsys.hsv_to_rgb(hue, saturation, min(value + added, 1))
        np.testing.assert_allclose(found, wanted, atol=1.01 / 255)


@pytest.mark.parametrize(("name", "channels"), [(n, c) for n in corruptions.CORRUPTIONS for c in (1, 3)])
def test_small_grey_images_and_ones_whose_side_is_no_power_of_two(name, channels):
    images = RNG.integers(0, 256, (2, 28, 28, channels), dtype=np.uint8)
    assert corruptions.corrupt(images, name, 4).shape == images.shape


@pytest.mark.parametrize("severity", [1, 3, 5])
def test_glass_blur_goes_from_pixel_to_pixel_as_its_authors_do(severity):
    """One image and pixel after the other, from the last; a colour image's 'swap' of views leaves a copy."""
    sigma, rounds = corruptions.CORRUPTIONS["glass-blur"][1][severity - 1]
    rng, wanted = np.random.default_rng(0), IMAGES / 255.0
    wanted = np.stack([ndimage.gaussian_filter(image, (sigma, sigma, 0), mode="nearest") for image in wanted])
    for _ in range(rounds):
        up, left = rng.integers(0, 2, (2, 6, 30, 30))
        for image in range(6):
            x = wanted[image]
            for h in range(31, 1, -1):
                for w in range(31, 1, -1):
                    there = h - up[image, h - 2, w - 2], w - left[image, h - 2, w - 2]
                    x[h, w], x[there] = x[there], x[h, w]
    wanted = np.stack([ndimage.gaussian_filter(image, (sigma, sigma, 0), mode="nearest") for image in wanted])
    found = kinds.glass_blur(IMAGES / 255.0, (sigma, rounds), np.random.default_rng(0))
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_smear_is_half_a_gaussian_on_one_side():
    point = np.zeros((4, 21, 21, 1))
    point[:, 10, 10] = 1.0
    found = kinds.smear(point, 4, 1.5, np.array([0.0, 90.0, 180.0, -45.0]))[..., 0]
    np.testing.assert_allclose(found.sum((1, 2)), 1, atol=1e-5)  # the mean is kept
    weights = np.array([math.exp(-(i**2) / 4.5) for i in range(9)])
    weights /= weights.sum()
    np.testing.assert_allclose(found[0, 10, 10::-1][:9], weights, atol=1e-6)  # each pixel looks to its right
    np.testing.assert_allclose(found[1, 10::-1, 10][:9], weights, atol=1e-6)
    np.testing.assert_allclose(found[2, 10, 10:19], weights, atol=1e-6)
    aslant = found[3]  # looks up and to the right, where steps are rounded
    wanted = np.zeros((21, 21))
    for i, weight in enumerate(weights):
        away = math.ceil(i * math.cos(math.pi / 4) - 0.5)
        wanted[10 - math.ceil(-i * math.sin(math.pi / 4) - 0.5), 10 - away] += weight
    np.testing.assert_allclose(aslant, wanted, atol=1e-6)


@pytest.mark.parametrize(("size", "decay"), [(2, 3.0), (8, 1.75), (32, 3.0)])
def test_the_fractal_is_means_of_four_neighbours_and_noise(size, decay):
    found = kinds.plasma(2, size, decay, np.random.default_rng(3))
    rng, wanted = np.random.default_rng(3), np.zeros((2, size, size))
    step, wobble = size, 100.0
    while step >= 2:
        half = step // 2
        noise = rng.uniform(-(wobble**2), wobble**2, (3, 2, size // step, size // step))
        for image, at in enumerate(wanted):
            for i in range(0, size, step):
                for j in range(0, size, step):
                    four = [at[(i + a) % size, (j + b) % size] for a in (0, step) for b in (0, step)]
                    at[i + half, j + half] = np.mean(four) + noise[0, image, i // step, j // step]
            for which, (down, right) in enumerate(((0, half), (half, 0)), start=1):
                for i in range(0, size, step):
                    for j in range(0, size, step):
                        y, x = i + down, j + right
                        ways = ((half, 0), (-half, 0), (0, half), (0, -half))
                        four = [at[(y + a) % size, (x + b) % size] for a, b in ways]
                        at[y, x] = np.mean(four) + noise[which, image, i // step, j // step]
        step, wobble = half, wobble / decay
    wanted -= wanted.min((1, 2), keepdims=True)
    wanted /= wanted.max((1, 2), keepdims=True)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_fog_keeps_the_brightest_and_black_and_snow_only_brightens():
    for severity in (1, 5):
        foggy = corruptions.corrupt(IMAGES, "fog", severity)
        assert (foggy.max((1, 2, 3)) <= IMAGES.max((1, 2, 3))).all()
        snowy = corruptions.corrupt(IMAGES, "snow", severity).astype(int)
        assert (snowy >= IMAGES.astype(int) - 1).all()  # rounded down
    thickness, decay = corruptions.CORRUPTIONS["fog"][1][2]
    flat = kinds.fog(FLAT / 255.0, (thickness, decay), np.random.default_rng(0))
    level = 100 / 255
    assert flat.max() == pytest.approx(level)
    assert flat.min() == pytest.approx(level**2 / (level + thickness))
    assert not corruptions.corrupt(np.zeros_like(FLAT), "fog", 5).any()


def test_snow_falls_and_lies_twice():
    """Of black images only flakes are left, and a little grey; the second half of them is the first, turned."""
    setting = corruptions.CORRUPTIONS["snow"][1][4]
    found = kinds.snow(np.zeros((5, 32, 32, 1)), setting, np.random.default_rng(0))
    flakes = found - (1 - setting[-1]) * 0.5
    np.testing.assert_allclose(flakes, flakes[:, ::-1, ::-1], atol=1e-12)
    assert flakes.min() >= -1e-12
    along, across = (np.abs(np.diff(flakes, axis=axis)).mean() for axis in (1, 2))
    assert along < across  # streaks are steep


def test_elastic_transform_draws_three_corners_to_where_it_says():
    corners, most = np.array([[26, 26], [26, 6], [6, 6]]), 0.08
    found = kinds.elastic_transform(IMAGES / 255.0, (0, 0, most), np.random.default_rng(2))
    moved = corners + np.random.default_rng(2).uniform(-most * 32, most * 32, (6, 3, 2))
    for image, drawn, got in zip(IMAGES / 255.0, moved, found, strict=True):
        edges, new = (corners[1:] - corners[0]).T, (drawn[1:] - drawn[0]).T
        there = edges @ np.linalg.inv(new)  # of a place (x, y) in the new image, in the old
        for pixel in ((16, 16), (10, 20), (3, 30)):
            x, y = corners[0] + there @ (np.array(pixel)[::-1] - drawn[0])
            rows, columns = [[[y]], [[x]]]
            want = [
                ndimage.map_coordinates(image[..., c], [rows[0], columns[0]], order=1, mode="mirror") for c in range(3)
            ]
            np.testing.assert_allclose(got[pixel], np.ravel(want), atol=1e-9)
    same = kinds.elastic_transform(IMAGES / 255.0, (0, 0, 0), np.random.default_rng(2))
    np.testing.assert_allclose(same, IMAGES / 255.0, atol=1e-9)


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_frost_is_a_part_of_a_photograph_and_the_image_both_weighted(photographs, severity):
    """Pixel by pixel; which photograph and where, as the same generator says."""
    kept, added = ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45))[severity - 1]
    rng = np.random.default_rng(0)
    which = rng.integers(0, 5, len(IMAGES))
    rooms = [(photographs[k].shape[0] - 32, photographs[k].shape[1] - 32) for k in which]
    corners = rng.integers(0, np.array(rooms).T)
    found = corruptions.corrupt(IMAGES, "frost", severity)
    for image, k, top, left, one in zip(IMAGES, which, *corners, found, strict=True):
        for row, column, colour in ((0, 0, 0), (31, 31, 2), (3, 17, 1), (20, 5, 0)):
            wanted = kept * image[row, column, colour] + added * photographs[k][top + row, left + column, colour]
            assert abs(int(one[row, column, colour]) - min(wanted, 255)) <= 1


def test_frost_is_of_every_photograph_and_of_every_place(photographs):
    black = np.zeros((4000, 32, 32, 3), np.uint8)
    found = kinds.frost(black, (1, 1), np.random.default_rng(1)) * 255
    parts = [
        photograph[i : i + 32, j : j + 32].astype(float)
        for photograph in photographs
        for i in range(photograph.shape[0] - 32)  # the last place is never taken: so its authors have it
        for j in range(photograph.shape[1] - 32)
    ]
    assert len({image.round().astype(np.uint8).tobytes() for image in found}) == len(parts)
    seen = {image.round().astype(np.uint8).tobytes() for image in found}
    assert seen == {part.astype(np.uint8).tobytes() for part in parts}


def test_on_grey_images_frost_is_grey():
    black = np.zeros((20, 32, 32, 3), np.uint8)
    colour, grey = (kinds.frost(black[..., :c], (1, 1), np.random.default_rng(1)) for c in (3, 1))
    np.testing.assert_allclose(grey, colour @ kinds.LUMA[:, None], atol=1e-12)
    assert np.ptp(colour, axis=-1).max() > 0.1


@pytest.mark.parametrize("shape", [(34, 32), (32, 36), (64, 64)])
def test_frost_is_not_laid_over_images_as_large_as_a_photograph(shape):
    with pytest.raises(ValueError, match=rf"must be smaller than 34 x 36 pixels. Got {shape[0]} x {shape[1]}"):
        corruptions.corrupt(np.zeros((2, *shape, 3), np.uint8), "frost", 1)
    assert corruptions.corrupt(np.zeros((2, 33, 35, 3), np.uint8), "frost", 1).any()


def test_an_elastic_field_moves_pixels_by_so_much():
    """On a ramp a pixel's change says how far it came: by noise of variance 1/3, smoothed."""
    ramp = np.broadcast_to(np.arange(64.0)[:, None, None], (300, 64, 64, 1)) / 255
    strength, sigma = 0.08, 0.06
    found = kinds.elastic_transform(ramp, (strength, sigma, 0), np.random.default_rng(2))
    moved = 255 * (found - ramp)[:, 16:-16, 16:-16]
    kernel = ndimage.gaussian_filter1d(np.eye(1, 129, 64)[0], sigma * 64, truncate=3)
    assert moved.std() == pytest.approx(strength * 64 * np.sqrt(1 / 3) * (kernel**2).sum(), rel=0.04)


def test_bad_input():
    with pytest.raises(ValueError, match="corruption must be one of gaussian-noise"):
        corruptions.corrupt(IMAGES, "spatter", 1)
    with pytest.raises(ValueError, match=r"severity must be 1 to 5. Got 6"):
        corruptions.corrupt(IMAGES, "contrast", 6)
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


def test_a_published_file_is_read_where_it_is_given(write_npz, tmp_path, monkeypatch):
    """Five severities one after the other; a corruption without a file is made."""
    write_npz(tmp_path / "cifar10", shape=(32, 32, 3))
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    folder = tmp_path / "cifar-10-c"
    folder.mkdir()
    images = np.random.default_rng(3).integers(0, 256, (20, 32, 32, 3), dtype=np.uint8)
    np.save(folder / "motion_blur.npy", images)
    np.save(folder / "spatter.npy", images[::-1])
    np.save(folder / "labels.npy", np.tile(np.array([3, 1, 4, 1], np.uint8), 5))
    for severity in (1, 4, 5):
        test = data.load(f"cifar10-c-motion-blur-{severity}").test
        np.testing.assert_array_equal(test.inputs, images[4 * severity - 4 : 4 * severity])
        assert test.labels.tolist() == [3, 1, 4, 1]
        assert test.labels.dtype == np.int64
    np.testing.assert_array_equal(data.load("cifar10-c-spatter-1").test.inputs, images[:-5:-1])
    clean = data.load("cifar10").test
    np.testing.assert_array_equal(data.load("cifar10-c-fog-2").test.inputs, data.corrupt(clean.inputs, "fog", 2))
    with pytest.raises(ValueError, match=r"cifar10-c-<corruption>-<severity 1 to 5>. Got 'cifar10-c-motion-blur-6'"):
        data.load("cifar10-c-motion-blur-6")
    np.save(folder / "motion_blur.npy", images[:10])
    with pytest.raises(ValueError, match=r"motion_blur.npy must be of shape .* Got \(10, 32, 32, 3\) and 20 labels"):
        data.load("cifar10-c-motion-blur-1")
    np.save(folder / "motion_blur.npy", images.astype(float))
    with pytest.raises(ValueError, match=r"motion_blur.npy images must be uint8"):
        data.load("cifar10-c-motion-blur-1")
    (folder / "labels.npy").unlink()
    with pytest.raises(ValueError, match=r"motion_blur.npy must be a whole npy file, with labels.npy beside it"):
        data.load("cifar10-c-motion-blur-1")
