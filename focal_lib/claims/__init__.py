"""The claim ledger: every claim of the papers with a verdict computed from its evidence.

>>> from focal_lib.claims import ledger
>>> [claim.id for claim in ledger("kk24")][:1]
['kk24.prop1']
"""

from focal_lib.claims.evidence import Evidence, Verdict
from focal_lib.claims.ledger import Claim, claim, find, ledger, show

__all__ = ["Claim", "Evidence", "Verdict", "claim", "find", "ledger", "show"]
