"""The `focal demo` command.

focal demo
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_target, write_together
from focal_lib.cli.errors import FileCommand
from focal_lib.cli.parameters import NEW_FOLDER, WholeNumber

_BINARY, _CLASSES = "binary.csv", "classes.npz"


@click.command(cls=FileCommand)
@click.option("--out", type=NEW_FOLDER, default="focal-demo", show_default=True, help="Folder for the two files.")
@click.option("--samples", type=WholeNumber(100, 1_000_000), default=2000, show_default=True)
@click.option("--seed", type=WholeNumber(0), default=0, show_default=True)
def demo(out: Path, samples: int, seed: int) -> None:
    """Write predictions of two overconfident models to try the commands on, and say how.

    binary.csv is the log of a binary model: id, date, segment, its probability score, and what came, label.
    classes.npz has logits of three classes, with labels. Both models have a temperature of 2.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    logits = 4 * rng.normal(size=samples) - 2
    came = rng.random(samples) < 1 / (1 + np.exp(-logits / 2))
    days = np.datetime64("2026-01-01") + np.arange(samples) * 60 // samples
    rows = zip(days, rng.choice(["north", "south"], samples), 1 / (1 + np.exp(-logits)), came, strict=True)
    lines = [f"{i},{day},{segment},{p:.6f},{int(y)}\n" for i, (day, segment, p, y) in enumerate(rows, 1000)]
    text = "id,date,segment,score,label\n" + "".join(lines)
    of_classes = 4 * rng.normal(size=(samples, 3))
    labels = (of_classes / 2 + rng.gumbel(size=(samples, 3))).argmax(1)  # drawn from softmax(logits / 2)
    for name in (_BINARY, _CLASSES):
        check_target(out / name)
    write_together(
        out,
        {
            _BINARY: partial(Path.write_text, data=text),
            _CLASSES: partial(_save, logits=of_classes, labels=labels),
        },
    )
    here = click.format_filename(out)
    click.echo(
        f"{here}/{_BINARY}: {samples:,} predictions of a binary model; {here}/{_CLASSES}: of three classes. Next:\n"
        f"  focal calibrate {here}/{_BINARY} --scores score --given probs --out {here}/report\n"
        f"  focal check {here}/{_BINARY} --scores score --given probs --max-ece 0.05\n"
        f"  focal watch {here}/{_BINARY} --scores score --state {here}/watch.db"
    )


def _save(part: Path, **arrays: Any) -> None:
    import numpy as np

    with part.open("wb") as stream:  # NumPy would add an ending to the name
        np.savez(stream, **arrays)
