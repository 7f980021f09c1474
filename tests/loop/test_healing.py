"""Every act of the loop that goes to the database by itself outlives a PostgreSQL that went away and came back."""

from __future__ import annotations

from inspect import iscoroutinefunction, isfunction, unwrap

import pytest

from harry_mcp.app import App
from harry_mcp.loop.healing import OnDatabase

# Importing the application made them all known.
_FLOWS = OnDatabase.__subclasses__() if App else []


@pytest.mark.parametrize("flow", _FLOWS, ids=lambda flow: flow.__name__)
def test_each_public_act_of_a_flow_is_healed(flow: type[OnDatabase]) -> None:
    acts = {
        name: act
        for name, act in vars(flow).items()
        if isfunction(act) and not name.startswith("_") and iscoroutinefunction(unwrap(act))
    }
    assert acts
    assert [name for name, act in acts.items() if unwrap(act) is act] == []
