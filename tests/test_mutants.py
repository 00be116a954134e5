"""The faults of mutants.py still fit the program."""

from .mutants import MUTANTS, stale


def test_every_fault_can_still_be_put_in() -> None:
    assert not list(stale()), "give the fault its new words, or another one"
    assert len(MUTANTS) >= 60
