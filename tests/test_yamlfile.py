"""YAML as plain data: what is read, what is refused, and that any bytes end in one or the other, soon."""

import time
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from files import yaml as yaml_file
from files.yaml import InlineList, InlineMap, YamlDocument, document_path_text, parse_scalar, read_yaml, write_yaml
from sim.params import ConfigError
from sim.system.load_progress import send_progress_to

SAMPLE = """\
title: A title
agents:
  - {kind: tb-wa, label: "007"}
  - kind: tba
    share: 0.5
cells: [[1, 2],
        [3, 4]]
text: |
  two
  lines
"""


@pytest.fixture(params=["compiled", "python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parsers of PyYAML: the compiled one is not everywhere."""
    if request.param == "python":
        monkeypatch.setattr(yaml_file, "_LOADER", yaml.SafeLoader)
    elif not yaml.__with_libyaml__:
        pytest.skip("this PyYAML has no compiled parser")


@pytest.mark.usefixtures("loader")
class TestReadYaml:
    def test_read_yaml_gives_plain_data(self) -> None:
        document = read_yaml(SAMPLE.encode(), "x.yaml")
        assert document.data == {
            "title": "A title",
            "agents": [{"kind": "tb-wa", "label": "007"}, {"kind": "tba", "share": 0.5}],
            "cells": [[1, 2], [3, 4]],
            "text": "two\nlines\n",
        }

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ((), 1),
            (("title",), 1),
            (("agents",), 2),
            (("agents", 0, "label"), 3),
            (("agents", 1), 4),
            (("agents", 1, "share"), 5),
            (("cells", 1, 0), 7),
            (("text",), 8),
            (("agents", 1, "missing", "deeper"), 4),
            (("agents", 9), 2),
            (("nothing",), 1),
        ],
    )
    def test_every_yaml_path_has_its_line(self, path: tuple[Any, ...], line: int) -> None:
        assert read_yaml(SAMPLE, "x").line_of_path(path) == line

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "x: expected a YAML document, got an empty file"),
            ("# nothing\n", "x: expected a YAML document, got an empty file"),
            ("a: &n [1]\nb: *n\n", "x:1: expected plain data, got an anchor (&name)"),
            ("a: 1\nb: *n\n", "x:2: expected plain data, got an alias (*name)"),
            ("a: !!python/object:os.system x\n", "x:1: expected plain data, got the tag '!!python/object:os.system'"),
            ("a: !mine 1\n", "x:1: expected plain data, got the tag '!mine'"),
            ("a: 1\nb: 2\na: 3\n", "x:3: expected plain data, got the key 'a' a second time"),
            ("? [1]\n: 2\n", "x:1: expected plain data, got a list or a mapping as a key"),
            ("1\n---\n2\n", "x:2: expected plain data, got a second document"),
            ("[" * 40, "x:1: expected plain data, got more than 32 levels"),
            ("a:\n\t- b", "x:2: expected spaces before the first word, got a tab"),
            ("a:\n  - b\n\t- c", "x:3: expected spaces before the first word, got a tab"),
            (b"a: 1\nb: \xff\n", "x:2: expected UTF-8 text, got the byte 0xff"),
        ],
    )
    def test_unsupported_yaml_is_refused(self, text: str | bytes, message: str) -> None:
        with pytest.raises(ConfigError) as caught:
            read_yaml(text, "x")
        assert str(caught.value) == message

    @pytest.mark.parametrize("text", ["a: [1, 2", "a: b: c", "a:\n  - [\tb", "'", "%YAML 9e9\n--- 1", "}", "- a\nb"])
    def test_broken_yaml_syntax_names_its_line(self, text: str) -> None:
        with pytest.raises(ConfigError, match=r"^x:\d+: not YAML: "):
            read_yaml(text, "x")

    @pytest.mark.parametrize("text", ["a: \0", '"\\UFFFFFFFF"', "%YAML 99999999999999999999.1\n--- 1", "a: \ud800"])
    def test_problematic_characters_are_refused(self, text: str) -> None:
        with pytest.raises(ConfigError, match=r"^x:"):
            read_yaml(text, "x")

    @given(st.binary(max_size=200) | st.text(max_size=200))
    @example(b"\xef\xbb\xbfa: 1")
    @example("&a [*a]")
    @example("? ? ? ?")
    @example("%TAG ! tag:x,2000:\n--- !y 1")
    def test_any_text_gives_a_document_or_config_error(self, source: bytes | str) -> None:
        try:
            document = read_yaml(source, "x")
        except ConfigError as error:
            assert str(error).startswith("x:") and "\n" not in str(error)
        else:
            assert isinstance(document, YamlDocument) and document.line_of_path(()) >= 1


@pytest.mark.parametrize(
    "source",
    [
        "[" * 8_000_000,
        "{a: " * 4_000_000,
        "- " * 8_000_000,
        "[" + "1," * 7_000_000 + "]",
        "- \n" * 5_000_000,
        '"' * 16_000_000,
        "a" * 16_000_000 + ": 1",
        ":" * 16_000_000,
        "&" * 16_000_000,
        "\n" * 16_000_000,
        "x" * (yaml_file.MAX_BYTES + 1),
    ],
    ids=["lists", "mappings", "dashes", "values", "nulls", "quotes", "key", "colons", "anchors", "lines", "size"],
)
def test_hostile_yaml_is_refused_quickly(source: str) -> None:
    """Two seconds at most here; what this fails on is a hang, or memory that runs out."""
    begin = time.perf_counter()
    with pytest.raises(ConfigError):
        read_yaml(source, "x")
    assert time.perf_counter() - begin < 60


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("true", True),
        ("false", False),
        ("yes", "yes"),
        ("on", "on"),
        ("12", 12),
        ("-3", -3),
        ("007", 7),
        ("1_000", "1_000"),
        ("0x1f", "0x1f"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e99999", "1e99999"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        (".", "."),
        ("9" * 50, "9" * 50),
    ],
)
def test_plain_value_parses_scalars(text: str, value: object) -> None:
    assert parse_scalar(text) == value and type(parse_scalar(text)) is type(value)


def test_path_text_formats_and_quotes_paths() -> None:
    assert document_path_text(("agents", 0, "kind")) == "agents[0].kind"
    assert document_path_text(("a\nb",)) == "'a\\nb'"
    assert len(document_path_text(("x" * 1000,))) < 80


plain_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=12,
)


@given(plain_data)
@example("1e5")
@example("yes")
@example("~")
@example({"": {"null": "null"}})
@example("a: b\n\nc\n")
@example("line\x85break\u2028x ")
@example(1e-07)
@example("x" * 300)
@example({"k" * 200: 1})
def test_written_yaml_is_read_back_equal(data: object) -> None:
    assert repr(read_yaml(write_yaml(data), "x").data) == repr(data)  # also 1 and True differ
    for value in (InlineList([data]), InlineMap(a=data)):
        assert read_yaml(write_yaml(value), "x").data == value


def test_line_of_flow_collections_gives_lines_of_their_parts() -> None:
    text = "a: [1, [2, 3]]\nb:\n  [4,\n   5]\nc:\n  [6, {d: 7}]\ne: {f: 8,\n  g: 9}\n"
    document = read_yaml(text, "x.yaml")
    places = {("a", 1, 0): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("c",): 5, ("c", 0): 6, ("c", 1, "d"): 6}
    places |= {("e", "f"): 7, ("e", "g"): 8, ("a", 7): 1}
    assert {path: document.line_of_path(path) for path in places} == places


def test_reading_a_large_file_reports_progress_and_can_be_cancelled() -> None:
    text = "".join(f"- {{tick: {i}, block: [[{i}, 4]]}}\n" for i in range(20_000))
    shares: list[float] = []
    with send_progress_to(shares.append):
        document = read_yaml(text, "x.yaml")
    assert len(document.data) == 20_000 and len(shares) > 5
    assert shares == sorted(shares) and 0.0 <= shares[0] < 0.1 and 0.8 < shares[-1] <= 1.0

    class GivenUpError(Exception):
        pass

    def give_up(share: float) -> None:
        if share > 0.5:
            raise GivenUpError

    with send_progress_to(give_up), pytest.raises(GivenUpError):
        read_yaml(text, "x.yaml")
    read_yaml("a: 1", "x.yaml")  # nobody listens any more
