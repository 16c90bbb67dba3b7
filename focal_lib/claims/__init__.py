"""The claim ledger: every claim of the papers with a verdict computed from its evidence.

>>> from focal_lib.claims import ledger
>>> [claim.id for claim in ledger("kk24")][:1]
['kk24.ce_overconfident']
"""

from focal_lib.claims.display import proof, recall, show, show_rest
from focal_lib.claims.evidence import (
    All,
    Certificate,
    Conditional,
    Counterexample,
    Derivation,
    Disproof,
    Evidence,
    Search,
    Step,
    Unchecked,
    step,
)
from focal_lib.claims.judgement import Verdict
from focal_lib.claims.ledger import Claim, claim, find, ledger
from focal_lib.claims.measurement import Measurement

__all__ = [
    "All",
    "Certificate",
    "Claim",
    "Conditional",
    "Counterexample",
    "Derivation",
    "Disproof",
    "Evidence",
    "Measurement",
    "Search",
    "Step",
    "Unchecked",
    "Verdict",
    "claim",
    "find",
    "ledger",
    "proof",
    "recall",
    "show",
    "show_rest",
    "step",
]
