"""Check that claims, tables and figures name only attributes, agents, labels and parts that the specification has.

An attribute is a property of a run, such as its agent, its budget or a parameter of its agent.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from experiments.columns import NUMERIC_COLUMNS, TEXT_COLUMNS
from files.document_fields import DocumentField
from sim.params import did_you_mean_hint, value_as_in_files

# keys of claims, tables and figures whose value is the name of an attribute, or a list of such names
_ATTRIBUTE_KEYS = ("over", "rows", "columns", "by", "falls", "rises", "power", "along")
# keys of claims whose value is the name of a numeric attribute, such as budget
_NUMERIC_ATTRIBUTE_KEYS = ("falls", "rises", "power", "along")
_FILTER_KEYS = ("where", "against", "levels")  # keys whose value is a mapping that selects runs, as in {agent: tba}
_SIDE_KEYS = ("less", "ratio", "crossing", "of")  # keys whose value is a list of two mappings that select runs


def check_specification_references(
    entry: DocumentField, attributes: Collection[str], values: Mapping[str, Collection[str]], numbers: Collection[str]
) -> None:
    """Report claims, tables or figures that name attributes or values that no run has, or attributes of a wrong type.

    Args:
        entry: The list of claims, tables or figures; receives the mistakes.
        attributes: The names of all attributes of runs.
        values: All values that runs have, by attribute; the values of other attributes are not checked.
        numbers: The names of the attributes whose values are all numbers.
    """
    for part in entry.items("") if isinstance(entry.value, list) else []:
        if not isinstance(part.value, dict):
            continue
        for field in _iter_attribute_fields(part):
            _check_attribute_name(field, field.value, attributes)
        for field in _iter_x_attribute_fields(part):
            if field.value in attributes and field.value not in numbers:
                field.report_expected_value("an attribute that is a number, such as budget")
        for field in _iter_run_filter_fields(part):
            _check_run_filter(field, attributes, values)


def _iter_attribute_fields(part: DocumentField) -> Iterator[DocumentField]:
    """Yield the fields of a claim, table or figure whose value is the name of an attribute."""
    keys = (*_ATTRIBUTE_KEYS, "x") if part.value.get("kind") == "lines" else _ATTRIBUTE_KEYS
    for key in keys:
        if key in part.value:
            yield from _element_fields(_child_field(part, key))


def _iter_x_attribute_fields(part: DocumentField) -> Iterator[DocumentField]:
    """Yield the fields of a claim or figure that name the attribute on the x axis of a curve or trend."""
    keys = (*_NUMERIC_ATTRIBUTE_KEYS, "x") if part.value.get("kind") == "lines" else _NUMERIC_ATTRIBUTE_KEYS
    yield from (_child_field(part, key) for key in keys if isinstance(part.value.get(key), str))


def _iter_run_filter_fields(part: DocumentField) -> Iterator[DocumentField]:
    """Yield the fields of a claim, table or figure whose value is a mapping that selects runs."""
    for key in (*_FILTER_KEYS, *_SIDE_KEYS):
        if key in part.value:
            yield from (field for field in _element_fields(_child_field(part, key)) if isinstance(field.value, dict))


def _check_run_filter(field: DocumentField, attributes: Collection[str], values: Mapping[str, Collection[str]]) -> None:
    """Report the attributes and values of a filter for runs, such as {agent: tba}, that no run has."""
    for name in field.value:
        _check_attribute_name(_child_field(field, name), name, attributes)
        _check_value_type(_child_field(field, name), name)
        for cell in _element_fields(_child_field(field, name)) if name in values else ():
            if isinstance(cell.value, str) and cell.value not in values[name]:
                known = sorted(filter(None, values[name]))
                hint = did_you_mean_hint(cell.value, known) if known else ""
                cell.report_problem(f"no run has {name} {value_as_in_files(cell.value)}{hint}")


def _check_value_type(field: DocumentField, name: Any) -> None:
    """Report text as the value of a numeric attribute, and a number as the value of a text attribute."""
    for cell in _element_fields(field):
        if name in NUMERIC_COLUMNS and isinstance(cell.value, str):
            cell.report_expected_value("a number")
        elif name in TEXT_COLUMNS and isinstance(cell.value, (bool, int, float)):
            cell.report_expected_value("text")


def _check_attribute_name(field: DocumentField, name: Any, attributes: Collection[str]) -> None:
    """Report a mistake if no run has an attribute of this name."""
    if isinstance(name, str) and name not in attributes:
        field.report_problem(
            f"no run has an attribute {value_as_in_files(name)}{did_you_mean_hint(name, list(attributes))}"
        )


def _child_field(field: DocumentField, key: Any) -> DocumentField:
    return DocumentField(field.problems, (*field.path, key), field.value[key])


def _element_fields(field: DocumentField) -> list[DocumentField]:
    """Return the elements of a list as fields, or the field itself if its value is no list."""
    if not isinstance(field.value, list):
        return [field]
    return [_child_field(field, index) for index in range(len(field.value))]
