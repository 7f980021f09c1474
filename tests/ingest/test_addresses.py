"""ING-1, CUR-3: which hosts are places in a local network."""

from __future__ import annotations

import pytest

from harry_mcp.ingest.addresses import private_name


@pytest.mark.promise("CUR-3")
@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("192.168.1.1", True),
        ("10.0.0.7", True),
        ("127.0.0.1", True),
        ("[::1]", True),
        ("fe80::1", True),
        ("captive", True),
        ("router.lan", True),
        ("wiki.corp.internal.", True),
        ("8.8.8.8", False),
        ("2001:4860:4860::8888", False),
        ("docs.example.com", False),
        ("local.example.com", False),
    ],
)
def test_a_local_host_is_told_by_its_number_or_its_name(host: str, private: bool) -> None:
    assert private_name(host) == private
