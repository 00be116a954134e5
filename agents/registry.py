"""Registry of all agents, in the order in which every menu and table lists them."""

from agents import (
    astar,
    d_lrta,
    da_rtaa,
    delayed_astar,
    dstar_lite,
    dt_lrta,
    gbfs,
    ida,
    k_lrta,
    knn_lrta,
    lrta,
    lss_lrta,
    oracle_lrta,
    p_lrta,
    pr_lrta,
    pra,
    ribs,
    rtaa,
    rtb_gbfs,
    rtb_wa,
    tb_gbfs,
    tb_wa,
    tba,
    wastar,
)
from sim.agent_api import AgentSpec, AgentSpecTable
from sim.params import ConfigError, unknown_agent_hint

AGENT_SPECS: list[AgentSpec] = [
    astar.SPEC,
    wastar.SPEC,
    gbfs.SPEC,
    ida.SPEC,
    delayed_astar.SPEC,
    tba.SPEC,
    tb_wa.SPEC,
    tb_gbfs.SPEC,
    rtb_wa.SPEC,
    rtb_gbfs.SPEC,
    lrta.SPEC,
    p_lrta.SPEC,
    k_lrta.SPEC,
    lss_lrta.SPEC,
    rtaa.SPEC,
    da_rtaa.SPEC,
    ribs.SPEC,
    dstar_lite.SPEC,
    knn_lrta.SPEC,
    pra.SPEC,
    pr_lrta.SPEC,
    d_lrta.SPEC,
    dt_lrta.SPEC,
    oracle_lrta.SPEC,
]
AGENT_SPECS_BY_KEY = AgentSpecTable({spec.key: spec for spec in AGENT_SPECS})


def register_agent(spec: AgentSpec) -> None:
    """Register a user-defined agent. A new version takes the place of the previous version in `AGENT_SPECS`."""
    assert spec.is_own
    if spec.key in AGENT_SPECS_BY_KEY:
        AGENT_SPECS[AGENT_SPECS.index(AGENT_SPECS_BY_KEY[spec.key])] = spec
    else:
        AGENT_SPECS.append(spec)
    AGENT_SPECS_BY_KEY[spec.key] = spec


def find_agent_spec(key: object, where: str = "agent") -> AgentSpec:
    """Return the spec of the agent with this key.

    Args:
        key: Key of the agent.
        where: Position of the key in the input, for the error message.

    Raises:
        ConfigError: There is no such agent; the message suggests the most similar key.
    """
    if key not in AGENT_SPECS_BY_KEY:
        raise ConfigError(f"{where}: no agent '{key}'{unknown_agent_hint(key, AGENT_SPECS_BY_KEY)}")
    return AGENT_SPECS_BY_KEY[str(key)]
