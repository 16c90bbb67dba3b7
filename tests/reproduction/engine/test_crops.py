"""Crops and flips of a batch at once."""

import torch

from reproduction.engine.crops import augmented, draw_crops


def test_augmentation_is_a_crop_and_a_flip():
    images = torch.arange(2 * 3 * 8 * 8, dtype=torch.float32).reshape(2, 3, 8, 8) + 1
    drawn = draw_crops(2, torch.Generator().manual_seed(3))
    out = augmented(images, drawn)
    assert out.shape == images.shape
    padded = torch.nn.functional.pad(images, (4,) * 4)
    for before, after in zip(padded, out, strict=True):
        crops = [before[:, y : y + 8, x : x + 8] for y in range(9) for x in range(9)]
        assert any(torch.equal(after, c) or torch.equal(after, c.flip(-1)) for c in crops)
    many = draw_crops(4000, torch.Generator().manual_seed(3))
    assert many.min(0).values.tolist() == [0, 0, 0]
    assert many.max(0).values.tolist() == [8, 8, 1]
    still = augmented(images, torch.tensor([[4, 4, 0], [4, 4, 1]]))
    torch.testing.assert_close(still, torch.stack([images[0], images[1].flip(-1)]))
