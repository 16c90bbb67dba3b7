"""The claim ledger: every claim of the papers with a verdict computed from its evidence.

>>> from reproduction.ledger import ledger
>>> [claim.id for claim in ledger("kk24")][:1]
['kk24.prop1']
"""

from reproduction.ledger.display import claims_of, proof, show
from reproduction.ledger.evidence import (
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
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import Claim, claim, find, ledger
from reproduction.ledger.measurement import Measurement

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
    "claims_of",
    "find",
    "ledger",
    "proof",
    "show",
    "step",
]
