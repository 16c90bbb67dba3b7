"""Claims on AUROC: what their intervals are over."""

import pytest

from reproduction.ledger.ledger import find
from reproduction.studies.ood.claims_l25 import ALONE


@pytest.mark.parametrize("id", ["l25.focal_digits", "l25.energy_above_probability", "l25.flsd53_cifar"])
def test_the_images_are_said_to_be_one_set(id):
    """All seeds are asked about the same known and unknown images."""
    parts = find(id).check().parts
    assert parts
    assert all(part.over.removesuffix(ALONE).strip() in ("3 seeds", "4 seeds") for part in parts)
    assert all(part.over.endswith(ALONE) for part in parts)
