"""Images in portions, for a machine that takes files of a few megabytes, or some of them at a time.

python -m workflow.portions pack cifar10 cifar100 --out portions    # at home: lossless, in files of 4 MB
python -m workflow.portions unpack portions --data _build/gpu/data  # there; the last portion completes it
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import numpy as np
from PIL import Image

from focal_lib.atomic_write import write_whole
from reproduction.engine import data
from reproduction.engine.store import checksum_of

COLUMNS = 50  # a file is a picture of 50 x 50 images
TILE = COLUMNS**2
CONTENTS = "contents.json"  # checksums of the files; it comes last, so that its arrays are whole where it is


def as_picture(images: np.ndarray) -> np.ndarray:
    """At most 2,500 images (n, H, W, 3) side by side, black after the last: (50 H, 50 W, 3)."""
    n, height, width, channels = images.shape
    full = np.zeros((TILE, height, width, channels), np.uint8)
    full[:n] = images
    rows = full.reshape(COLUMNS, COLUMNS, height, width, channels).transpose(0, 2, 1, 3, 4)
    return rows.reshape(COLUMNS * height, COLUMNS * width, channels)


def from_picture(picture: np.ndarray) -> np.ndarray:
    """The 2,500 images of a picture."""
    height, width = (side // COLUMNS for side in picture.shape[:2])
    rows = picture.reshape(COLUMNS, height, COLUMNS, width, -1).transpose(0, 2, 1, 3, 4)
    return rows.reshape(TILE, height, width, -1)


def pack_images(name: str, folder: Path) -> list[Path]:
    """Write a data set of colour images as files of some 4 MB, and `contents.json` with their checksums.

    Raises:
        ValueError: images without three channels.
    """
    dataset, target = data.load(name), folder / name
    target.mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    for side, part in (("train", dataset.train), ("test", dataset.test)):
        if part.inputs.ndim != 4 or part.inputs.shape[-1] != 3:
            raise ValueError(f"{name} must hold colour images (n, H, W, 3). Got {part.inputs.shape}.")
        np.savez_compressed(target / f"{side}-labels.npz", labels=part.labels)
        for number, first in enumerate(range(0, len(part), TILE)):
            picture = Image.fromarray(as_picture(part.inputs[first : first + TILE]))
            picture.save(target / f"{side}-{number:02}.webp", lossless=True)
    for path in sorted(target.glob("t*-*")):
        files[path.name] = checksum_of(path.read_bytes())
    (target / CONTENTS).write_text(json.dumps(files, indent=1) + "\n")
    return [target / name for name in (CONTENTS, *files)]


def unpack_images(portion: Path, folder: Path) -> dict[str, list[str]]:
    """Take the files of this portion; a data set that is whole then is written as FOCAL_DATA has it.

    A portion of what is whole there already changes nothing.

    Returns:
        Of each data set of the portion the files that are still missing.

    Raises:
        ValueError: a file that is not as it was packed; a portion of no data set; arrays there of another source.
    """
    missing: dict[str, list[str]] = {}
    sources = sorted(path for path in portion.iterdir() if path.is_dir())
    if not sources:
        raise ValueError(f"a portion must hold a folder for each data set. Got none in {portion}.")
    for source in sources:
        taken = folder / f".portions-{source.name}"
        if not taken.exists() and _is_made_from(folder / source.name, source):
            missing[source.name] = []
            continue
        if not taken.exists():
            _refuse_own(folder / source.name)
        taken.mkdir(parents=True, exist_ok=True)
        for path in source.iterdir():
            shutil.copyfile(path, taken / path.name)
        if not (taken / CONTENTS).is_file():
            missing[source.name] = [CONTENTS]
            continue
        contents: dict[str, str] = json.loads((taken / CONTENTS).read_text())
        missing[source.name] = [name for name in contents if not (taken / name).is_file()]
        if not missing[source.name]:
            _write_arrays(taken, contents, folder / source.name)
            shutil.rmtree(taken)
    return missing


def _refuse_own(target: Path) -> None:
    """Arrays that came in no portion are not written over."""
    own = [name for name in ("train.npz", "test.npz") if (target / name).exists()]
    if own and not (target / CONTENTS).is_file():
        raise ValueError(
            f"{target} must have come in portions, or not be there. Got {' and '.join(own)} of another source."
        )


def _is_made_from(target: Path, portion: Path) -> bool:
    """Whether the data set is there as a whole, and all files of the portion are among those that it was made from."""
    if not all((target / name).is_file() for name in ("train.npz", "test.npz", CONTENTS)):
        return False
    contents: dict[str, str] = json.loads((target / CONTENTS).read_text())
    return all(
        json.loads(path.read_text()) == contents
        if path.name == CONTENTS
        else contents.get(path.name) == checksum_of(path.read_bytes())
        for path in portion.iterdir()
    )


def _write_arrays(taken: Path, contents: dict[str, str], target: Path) -> None:
    for name, checksum in contents.items():
        if checksum_of((taken / name).read_bytes()) != checksum:
            raise ValueError(f"{taken / name} must match its checksum. It does not: bring it again.")
    target.mkdir(parents=True, exist_ok=True)
    (target / CONTENTS).unlink(missing_ok=True)  # of the arrays before these
    for side in ("train", "test"):
        with np.load(taken / f"{side}-labels.npz", allow_pickle=False) as file:
            labels = file["labels"]
        names = [name for name in contents if name.startswith(side) and name.endswith(".webp")]
        names.sort(key=_number_of)  # as text train-100 comes before train-11
        pictures = [np.asarray(Image.open(taken / name).convert("RGB")) for name in names]
        images = np.concatenate([from_picture(picture) for picture in pictures])[: len(labels)]
        write_whole(target / f"{side}.npz", lambda part, i=images, y=labels: _save(part, i, y))  # type: ignore[misc]
    write_whole(target / CONTENTS, lambda part: shutil.copyfile(taken / CONTENTS, part))


def _number_of(name: str) -> int:
    """'train-07.webp' -> 7."""
    return int(name.rpartition("-")[2].removesuffix(".webp"))


def _save(path: Path, images: np.ndarray, labels: np.ndarray) -> None:
    with path.open("wb") as file:
        np.savez(file, images=images, labels=labels)


FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Images in portions: pack them at home, unpack them there."""


@main.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--out", required=True, type=FOLDER)
def pack(names: tuple[str, ...], out: Path) -> None:
    """Write the data sets NAMES, losslessly, as files that may be carried in portions."""
    try:
        for name in names:
            files = pack_images(name, out)
            click.echo(f"{name}: {len(files)} files, {sum(p.stat().st_size for p in files) / 2**20:.0f} MiB -> {out}")
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("portion", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--data", "folder", required=True, type=FOLDER, help="What FOCAL_DATA is to be.")
def unpack(portion: Path, folder: Path) -> None:
    """Take the files of PORTION; a data set is written when the last of them is there."""
    try:
        for name, missing in unpack_images(portion, folder).items():
            lacking = [f"{len(missing)} files are missing, {first} first" for first in missing[:1]]
            click.echo(f"{name}: {(lacking or [f'whole -> {folder / name}'])[0]}")
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
