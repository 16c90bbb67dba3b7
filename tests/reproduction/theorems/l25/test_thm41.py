"""Theorem 4.1: what its text has lost is not judged; the norms are."""

from reproduction.ledger.judgement import Verdict
from reproduction.theorems.l25 import thm41


def test_the_norms_need_squares():
    assert thm41.norms_step().holds
    assert not thm41.norms_step(power=3).holds
    assert thm41.thm41_norms_reading().verdict == Verdict.PROVED
