"""Parameters: what is legal, what is refused and in which words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY, find_agent_spec
from files.agents import AGENT_KEYS
from sim.agent_api import AgentSpec
from sim.params import ConfigError, Param, did_you_mean_hint, parse_params, unknown_agent_hint, value_as_in_files
from ui.model.panel_texts import param_text

COUNT = Param("count", int, 3, "how many", 1, 10)
SHARE = Param("share", float, 0.5, "how much", 0.0, 1.0)
FLAG = Param("flag", bool, False, "whether")
LIMIT = Param("limit", int, 3, "at most", 0, 10, zero_word="none")
COLOUR = Param("colour", str, "red", "which", choices=("red", "green"))

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.integers()),
    st.dictionaries(st.text(), st.text()),
)


@pytest.mark.parametrize(
    ("param", "given_value", "parsed"),
    [
        (COUNT, 7, 7),
        (COUNT, "7", 7),
        (COUNT, 7.0, 7),
        (COUNT, "1e1", 10),
        (LIMIT, "none", 0),
        (LIMIT, 0, 0),
        (LIMIT, "10", 10),
        (SHARE, 1, 1.0),
        (SHARE, "0.25", 0.25),
        (FLAG, "Yes", True),
        (FLAG, False, False),
        (FLAG, "off", False),
        (COLOUR, "green", "green"),
    ],
)
def test_legal_values_are_parsed(param: Param, given_value: object, parsed: object) -> None:
    value = param.parse_value(given_value)
    assert value == parsed and type(value) is param.kind


@pytest.mark.parametrize(
    ("param", "given_value", "message"),
    [
        (COUNT, 0, "expected a whole number from 1 to 10, got 0"),
        (COUNT, 2.5, "expected a whole number from 1 to 10, got 2.5"),
        (COUNT, True, "expected a whole number from 1 to 10, got true"),
        (COUNT, "many", "expected a whole number from 1 to 10, got 'many'"),
        (COUNT, None, "expected a whole number from 1 to 10, got nothing"),
        (COUNT, 10**400, "expected a whole number from 1 to 10, got " + value_as_in_files(10**400)),
        (LIMIT, "non", "expected none or a whole number from 1 to 10, got 'non'; did you mean 'none'?"),
        (LIMIT, -1, "expected none or a whole number from 1 to 10, got -1"),
        (SHARE, math.nan, "expected a number from 0 to 1, got nan"),
        (SHARE, "inf", "expected a number from 0 to 1, got 'inf'"),
        (FLAG, "perhaps", "expected true or false, got 'perhaps'"),
        (COLOUR, "gren", "expected one of red, green, got 'gren'; did you mean 'green'?"),
        (COLOUR, [], "expected one of red, green, got []"),
    ],
)
def test_illegal_values_are_refused_with_reason(param: Param, given_value: object, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        param.parse_value(given_value, "place")
    assert str(caught.value) == f"place: {message}"


def test_special_values_are_shown_as_words() -> None:
    assert (LIMIT.display_text(0), LIMIT.display_text(7), COUNT.display_text(7), FLAG.display_text(True)) == (
        "none",
        "7",
        "7",
        "on",
    )
    assert (param_text(LIMIT, 0), param_text(LIMIT, 7)) == ("limit none", "limit 7")


def test_expected_text_states_the_range() -> None:
    assert Param("n", int, 1, "", 1, 1_000_000_000).describe_legal_values() == "a whole number from 1 to 1,000,000,000"
    assert Param("x", float, 1.0, "", low=0.01).describe_legal_values() == "a number of at least 0.01"


@given(st.sampled_from([COUNT, LIMIT, SHARE, FLAG, COLOUR]), values)
def test_any_value_is_parsed_or_raises_config_error(param: Param, value: object) -> None:
    try:
        parsed = param.parse_value(value, "x")
    except ConfigError as error:
        assert error.problems and all(text.startswith("x: expected ") for text in error.problems)
        assert "\n" not in str(error)
    else:
        assert type(parsed) is param.kind and param.parse_value(parsed) == parsed


def test_parse_params_collects_all_problems() -> None:
    problems: list[str] = []
    found = parse_params((COUNT, FLAG), {"cuont": 1, "count": 99, "flag": "true"}, "agent", problems)
    assert found == {"count": 3, "flag": True}
    assert problems == [
        "agent.cuont: no such parameter; did you mean 'count'?",
        "agent.count: expected a whole number from 1 to 10, got 99",
    ]


def test_did_you_mean_suggests_nearest_name() -> None:
    assert did_you_mean_hint("tbawa", ["tb-wa", "astar"]) == "; did you mean 'tb-wa'?"
    assert did_you_mean_hint("zzz", ["a", "b"]) == "; known: a, b"
    assert did_you_mean_hint("x" * 10_000_000, ["a"]) == "; known: a"  # as long as a file: still at once
    assert did_you_mean_hint("x", []) == ""


@pytest.mark.parametrize("spec", AGENT_SPECS, ids=lambda spec: spec.key)
def test_agent_parameter_declarations_are_valid(spec: AgentSpec) -> None:
    """Every declared default is legal, every name free to stand beside `kind`, every help is there."""
    assert find_agent_spec(spec.key) is spec
    assert spec.summary and spec.paper and spec.name
    assert len({param.name for param in spec.params}) == len(spec.params)
    for param in spec.params:
        assert param.parse_value(param.default) == param.default and type(param.default) is param.kind
        assert param.name not in AGENT_KEYS and param.name.isidentifier()
        assert param.help and not param.help.endswith(".")
        assert param.declaration_data()["type"] == param.kind.__name__


def test_unknown_agent_kind_suggests_nearest_key() -> None:
    with pytest.raises(ConfigError, match=r"agents\[0\]\.kind: no agent 'rtb-w'; did you mean 'rtb-wa'\?"):
        find_agent_spec("rtb-w", "agents[0].kind")


@pytest.mark.parametrize("spec", AGENT_SPECS, ids=lambda spec: spec.key)
def test_unknown_agent_suggests_key_for_display_name(spec: AgentSpec) -> None:
    assert unknown_agent_hint(spec.name, AGENT_SPECS_BY_KEY) == f"; did you mean '{spec.key}'?"
    assert unknown_agent_hint(spec.key.upper(), AGENT_SPECS_BY_KEY) == f"; did you mean '{spec.key}'?"
