"""The faults of mutants.py still fit the program."""

from .mutants import MUTANTS, stale


def test_every_mutant_still_applies() -> None:
    assert not list(stale()), "give the fault its new words, or another one"
    assert len(MUTANTS) >= 60
