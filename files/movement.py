"""Read and write movement rules in files: the keys `movement` and `diagonal` of a map or an experiment."""

from collections.abc import Mapping
from typing import Any

from files.document_fields import DocumentField
from sim.kernels import octile
from sim.movement import DIAGONAL_PARAM, FOUR_NEIGHBOURS, RULE_PARAM, Movement

MOVEMENT_KEYS = (DIAGONAL_PARAM.name, RULE_PARAM.name)


def read_movement(fields: Mapping[str, DocumentField]) -> Movement | None:
    """Return the movement rule of a mapping, with defaults for missing keys; None after reporting a problem."""
    rule = fields[RULE_PARAM.name].read_value(RULE_PARAM) if RULE_PARAM.name in fields else RULE_PARAM.default
    diagonal = (
        fields[DIAGONAL_PARAM.name].read_value(DIAGONAL_PARAM)
        if DIAGONAL_PARAM.name in fields
        else DIAGONAL_PARAM.default
    )
    if rule == FOUR_NEIGHBOURS and DIAGONAL_PARAM.name in fields:
        fields[DIAGONAL_PARAM.name].report_problem("is allowed only with eight neighbours")
    return None if rule is None or diagonal is None else Movement(str(rule), float(diagonal))


def movement_data(movement: Movement) -> dict[str, Any]:
    """Return a movement rule as plain data for a file, without keys that have the default value."""
    data: dict[str, Any] = {}
    if movement.has_diagonal_moves and movement.diagonal != octile.DIAGONAL:
        data[DIAGONAL_PARAM.name] = movement.diagonal
    if movement.rule != RULE_PARAM.default:
        data[RULE_PARAM.name] = movement.rule
    return data
