"""Runs that were trained elsewhere: their logits in a folder of runs, with what their owner told of them.

focal import logits.npz --as 'dataset=cifar10 model=resnet50 loss=focal gamma=3 seed=0' --root mine
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.loss_records import LOSS_RECORDS
from reproduction.engine.data import places
from reproduction.engine.data.images import IMAGE_SETS, NPZ_FILES
from reproduction.engine.files import write
from reproduction.engine.spec import LOSSES, Spec
from reproduction.engine.store import (
    LOGITS,
    SPEC,
    Logits,
    RunDamaged,
    array_checksum,
    as_npz,
    checked_bytes,
    describe_files,
)
from reproduction.parameters import parse_parameters

IMPORTED = "imported"  # in the record of such a run, in the place of 'spec'
TEST_SIZES = {"svhn": 26_032, "mnist-5k": 1_000} | dict.fromkeys(
    ("cifar10", "cifar100", "fashion-mnist", "tiny-imagenet"), 10_000
)
_WHOLE = {"seed": 0, "n_train": 1, "epochs": 1, "threads": 1}  # name -> least
_NUMBERS = ("gamma", "lam")


@dataclass(frozen=True)
class Imported:
    """What the owner of a run tells of it; None: not told.

    Raises:
        ValueError: a name that is no text, a number out of range, a known loss with other parameters than it has.
    """

    dataset: str
    model: str
    loss: str
    seed: int
    gamma: float | None = None
    lam: float | None = None
    n_train: int | None = None
    recipe: str | None = None
    epochs: int | None = None
    precision: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is None and f.default is None:
                continue
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if f.name in _WHOLE:
                if not is_number or value % 1 or value < _WHOLE[f.name]:
                    raise ValueError(f"{f.name} must be a whole number >= {_WHOLE[f.name]}. Got {value!r}.")
                object.__setattr__(self, f.name, int(value))
            elif f.name in _NUMBERS:
                if not is_number or not 0 <= value < np.inf:
                    raise ValueError(f"{f.name} must be a number >= 0. Got {value!r}.")
            elif not isinstance(value, str) or not re.fullmatch(r"[^\W_][^\n]*", value):
                raise ValueError(f"{f.name} must be a name. Got {value!r}.")
        if self.loss == "focal" and self.gamma is None:  # of a Spec that is cross-entropy
            raise ValueError(LOSS_RECORDS["focal"].say_missing("gamma", "0 is cross-entropy"))
        _ = self.label

    @property
    def label(self) -> str:
        """As tables name it: a known loss as those of our own runs, another by its name and numbers."""
        given = {name: getattr(self, name) for name in _NUMBERS if getattr(self, name) is not None}
        if self.loss in LOSSES or self.loss == "cross-entropy":
            return Spec(loss=self.loss, **given).label
        return " ".join([self.loss, *(f"{value:g}" for value in given.values())])

    @property
    def digest(self) -> str:
        """What names its folder: one run of a data set, network, loss and seed."""
        key = [self.dataset, self.model, self.label, self.seed]
        return hashlib.sha256(json.dumps([IMPORTED, *key]).encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.label}, seed {self.seed}, {self.model} on {self.dataset}"


def parse_told(text: str) -> Imported:
    """'dataset=cifar10 model=resnet50 loss="focal" gamma=3 seed=0' -> what it tells.

    Raises:
        ValueError: no NAME=VALUE, an unknown name, one that is missing or told twice; as Imported.
    """
    parts = shlex.split(text)
    if wrong := [part for part in parts if not re.match(r"\w+=", part)]:
        raise ValueError(f"--as must be NAME=VALUE, with spaces between. Got {wrong[0]!r}.")
    told = parse_parameters((name, value) for name, _, value in (part.partition("=") for part in parts))
    known = {f.name: f.default is MISSING for f in fields(Imported)}
    if unknown := [name for name in told if name not in known]:
        raise ValueError(f"names in --as must be among {', '.join(known)}. Got {', '.join(unknown)}.")
    if missing := [name for name, needed in known.items() if needed and told.get(name) is None]:
        raise ValueError(f"--as must tell dataset, model, loss and seed. Got no {', no '.join(missing)}.")
    return Imported(**told)


def check_splits(sets: Mapping[str, LogitSet], dataset: str, published: np.ndarray | None) -> dict[str, Logits]:
    """Validation and test logits as runs keep them, of the data set that they are told to be of.

    Args:
        published: its test labels, see `labels_at_hand`.

    Raises:
        ValueError: one set, another layout than (n, K), another number of classes or test samples than the data set
            has, other test labels than the published.
    """
    if set(sets) != {"validation", "test"}:
        raise ValueError("logits must be of two sets, validation and test. Got one.")
    for name, own in sets.items():
        if own.layout != "classes":
            raise ValueError(f"{name} logits must be (n, K), of K classes. Got the layout {own.layout}.")
    parts = {name: Logits(np.asarray(own.logits[:], np.float32), np.asarray(own.labels)) for name, own in sets.items()}
    classes = sorted({part.logits.shape[1] for part in parts.values()})
    known = [IMAGE_SETS[dataset].classes] if dataset in IMAGE_SETS else classes[:1]
    if classes != known:
        raise ValueError(f"logits of {dataset} must have {known[0]} classes. Got {', '.join(map(str, classes))}.")
    labels, rows = parts["test"].labels, len(parts["test"].labels)
    size = TEST_SIZES.get(dataset, rows) if published is None else len(published)
    if size != rows:
        raise ValueError(f"test logits of {dataset} must have {size:,} rows, all of its test set. Got {rows:,}.")
    if published is not None and not np.array_equal(published, labels):
        alike = np.array_equal(np.bincount(published), np.bincount(labels))
        got = "the same in another order" if alike else f"{np.count_nonzero(published != labels):,} others"
        raise ValueError(f"test labels must be those of {dataset}, in its order. Got {got}.")
    return parts


def labels_at_hand(dataset: str) -> np.ndarray | None:
    """The published test labels, where images are in FOCAL_DATA or were fetched before."""
    for folder in (places.own_folder(dataset), places.cache(dataset)):
        if folder is not None and (path := folder / NPZ_FILES[1]).is_file():
            with places.reading(path, "a whole npz file"), np.load(path, allow_pickle=False) as file:
                return np.asarray(file["labels"]).astype(np.int64)
    return None


def write_imported(told: Imported, parts: Mapping[str, Logits], root: Path, source: str) -> Path:
    """Keep the logits in a folder of runs; the same logits again change what is told of them.

    Args:
        source: the name of the file they come from.

    Raises:
        FileExistsError: other logits of this run are there, or these as those of another run.
    """
    arrays = {f"{name}_logits": part.logits for name, part in parts.items()}
    arrays |= {f"{name}_labels": part.labels for name, part in parts.items()}
    checksum = array_checksum(arrays)
    for path in root.glob(f"*/{SPEC}"):  # one seed told as two has no spread
        record = json.loads(path.read_text())
        is_own = path.parent.name == told.digest
        if is_own != (record.get("checksum") == checksum):
            got = "other logits of it" if is_own else f"these logits as those of {path.parent.name}"
            raise FileExistsError(f"{root} must have no other logits of {told.name}, and these once. Got {got}.")
    contents = {LOGITS: as_npz(arrays)}
    record = {IMPORTED: asdict(told), "source": source, "checksum": checksum, "files": describe_files(contents)}
    folder = root / told.digest
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / SPEC, (json.dumps(record, indent=1) + "\n").encode())
    write(folder / LOGITS, contents[LOGITS])
    return folder


def load_imported(folder: Path, record: Mapping[str, Any]) -> tuple[Imported, Logits, Logits]:
    """What was told of an imported run, its validation and its test logits.

    Raises:
        RunDamaged: a file of it was changed.
    """
    try:
        told = Imported(**record[IMPORTED])
    except (TypeError, ValueError) as error:
        raise RunDamaged(f"{folder / SPEC} must be as `focal import` wrote it. Got {error}.") from None
    with np.load(io.BytesIO(checked_bytes(folder, record, LOGITS)), allow_pickle=False) as arrays:
        validation, test = (Logits(arrays[f"{n}_logits"], arrays[f"{n}_labels"]) for n in ("validation", "test"))
    return told, validation, test
