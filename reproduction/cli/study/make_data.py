"""Data of your own: data/digits/train.npz and test.npz, here 1,797 digits of 8 x 8 pixels that scikit-learn has."""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
images = (digits.images * 15).astype(np.uint8)  # (n, H, W), 0 to 240
order = np.random.default_rng(0).permutation(len(images))
folder = Path(__file__).parent / "data" / "digits"
folder.mkdir(parents=True, exist_ok=True)
for name, part in (("train", order[:1300]), ("test", order[1300:])):
    np.savez(folder / f"{name}.npz", images=images[part], labels=digits.target[part])
