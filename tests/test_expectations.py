"""docs/expectations.md: forty rows, and every test that they name exists."""

import re

from .conftest import ROOT

TEXT = (ROOT / "docs" / "expectations.md").read_text(encoding="utf-8")


def test_table_has_forty_rows_in_order_that_name_tests() -> None:
    rows = re.findall(r"^\| (\d+) \|(.*)$", TEXT, re.M)
    assert [int(number) for number, _ in rows] == list(range(1, 41))
    assert all("::test_" in row for _, row in rows)


def test_named_tests_exist() -> None:
    for file, name in re.findall(r"`(test_\w+\.py)::(test_\w+)`", TEXT):
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {name}(" in source, f"{file}: {name}"
