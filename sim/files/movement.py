"""Read and write movement rules in files: the keys `movement` and `diagonal` of a map or an experiment."""

from collections.abc import Mapping
from typing import Any

from sim.files.fields import Field
from sim.kernels import octile
from sim.movement import DIAGONAL, FOUR, RULE, Movement

MOVEMENT_KEYS = (DIAGONAL.name, RULE.name)


def read_movement(fields: Mapping[str, Field]) -> Movement | None:
    """Return the movement rule of a mapping, with defaults for missing keys; None after reporting a problem."""
    rule = fields[RULE.name].parse(RULE) if RULE.name in fields else RULE.default
    diagonal = fields[DIAGONAL.name].parse(DIAGONAL) if DIAGONAL.name in fields else DIAGONAL.default
    if rule == FOUR and DIAGONAL.name in fields:
        fields[DIAGONAL.name].complain("is allowed only with eight neighbours")
    return None if rule is None or diagonal is None else Movement(str(rule), float(diagonal))


def movement_data(movement: Movement) -> dict[str, Any]:
    """Return a movement rule as plain data for a file, without keys that have the default value."""
    data: dict[str, Any] = {}
    if movement.has_diagonals and movement.diagonal != octile.DIAGONAL:
        data[DIAGONAL.name] = movement.diagonal
    if movement.rule != RULE.default:
        data[RULE.name] = movement.rule
    return data
