"""What a verdict rests on, from a proof down to nothing: by the kind of its evidence, and by the runs it reads."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from enum import StrEnum

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.papers import differences_from_papers, has_their_data
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import PRINTED, Claim


class Weight(StrEnum):
    """What a verdict rests on; of several the last counts."""

    PROOF = "a proof: Coq, sympy or ball arithmetic"
    FORMULAS = "formulas computed at many points"
    TABLES = "the papers' own printed tables, counted: no finding of ours"
    PAPER_SIZE = "networks at a paper's size and schedule"
    FULL_DATA = "all of CIFAR-10 or CIFAR-100: a small network or ResNet-18, short schedules"
    TOY = "toy networks: few images or texts, small networks, simple models"
    NOTHING = "nothing: not checkable here"

    @property
    def short(self) -> str:
        """'a proof', 'toy networks'."""
        return self.split(":")[0]


class Basis(StrEnum):
    """What a paper's own page groups its claims by: coarser than their weight; out of regime for itself."""

    THEORY = "Theory"
    TABLES = "What its printed tables say, counted"
    NETWORKS = "What networks of ours say"
    OUT_OF_REGIME = "Out of regime: networks of ours, too unlike the paper's to say anything for or against"
    NOTHING = "Could not be judged here"


_BASIS = {Weight.PROOF: Basis.THEORY, Weight.FORMULAS: Basis.THEORY, Weight.TABLES: Basis.TABLES}
_BASIS[Weight.NOTHING] = Basis.NOTHING

# verdicts that only a derivation, a certificate, or a counterexample gives, see `evidence`; all others are of numbers
_PROVED = (Verdict.FORMALLY_PROVED, Verdict.PROVED, Verdict.CERTIFIED, Verdict.CONDITIONAL, Verdict.REFUTED)

# folders of results/ with tables alone, whose plans are no grids: the grids of the networks that are looked at, or TOY
_LOOKED_AT: dict[str, tuple[str, ...] | Weight] = {
    "fcl-networks": Weight.TOY,  # 1,000 pooled images of Fashion-MNIST; two moons
    "human-labels": Weight.TOY,  # sentences of film reviews
    "law": Weight.TOY,  # 30 kinds of small networks, nearly all on few images or texts
    "open-questions": ("cifar10-record", "cifar100-record"),
    "people": ("cifar10-record", "cifar10-resnet18", "cifar10-clipped", "cifar10-long", "cifar10-long-fresh"),
    "texts": Weight.TOY,  # 2,000 sentences of film reviews
    "unknown-inputs": ("fashion-mnist", "fashion-mnist-unknown", "fashion-mnist-fresh", "cifar10-unknown"),
    "where-it-looks": Weight.TOY,  # 4,000 canvases of garments
}


def weigh(claim: Claim, verdict: str) -> Weight:
    """What a verdict of a claim rests on.

    Args:
        verdict: on record, or computed.
    """
    if verdict == Verdict.UNCHECKABLE:
        return Weight.NOTHING
    if claim.needs == PRINTED:
        return Weight.TABLES
    if claim.needs is not None:
        return of_record(claim.needs.removeprefix("results/"))
    if verdict in _PROVED:
        return Weight.PROOF
    trains = claim.check.__module__.startswith("reproduction.studies.")  # theorems need no run
    return Weight.TOY if trains else Weight.FORMULAS


def by_basis(claims: Iterable[Claim], verdicts: Mapping[str, str]) -> dict[Basis, list[Claim]]:
    """The claims in their order, a group for each basis that one of them has.

    Args:
        verdicts: claim id -> verdict.
    """
    groups: dict[Basis, list[Claim]] = {basis: [] for basis in Basis}
    for claim in claims:
        weight = weigh(claim, verdicts[claim.id])
        outside = verdicts[claim.id] == Verdict.OUT_OF_REGIME
        groups[Basis.OUT_OF_REGIME if outside else _BASIS.get(weight, Basis.NETWORKS)].append(claim)
    return {basis: found for basis, found in groups.items() if found}


@functools.cache
def of_record(folder: str) -> Weight:
    """What results/<folder> weighs: as its plan says, the grid of that name or those of the networks looked at.

    Raises:
        ValueError: there is no such grid, and the folder is not one of those with tables alone.
    """
    looked_at = _LOOKED_AT.get(folder, (folder,))
    if isinstance(looked_at, Weight):
        return looked_at
    grids = [ROOT / "workflow" / "grids" / f"{name}.yaml" for name in looked_at]
    if missing := [path.stem for path in grids if not path.exists()]:
        raise ValueError(
            f"folder must have a grid in workflow/grids, or be one of {', '.join(_LOOKED_AT)}. "
            f"Got {', '.join(missing)}."
        )
    specs = [spec for path in grids for spec in read_grid(path)]
    if not any(map(differences_from_papers, specs)):
        return Weight.PAPER_SIZE
    return Weight.FULL_DATA if all(map(has_their_data, specs)) else Weight.TOY
