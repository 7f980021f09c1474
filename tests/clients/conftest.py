"""The clients, and a server over a small knowledge base that they all speak to."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harry_mcp.app import App
from harry_mcp.settings import child_environment, load_settings
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.clients import packages
from tests.clients.packages import Unavailable
from tests.console.conftest import database
from tests.console.driving import apart
from tests.console.served import served
from tests.loop.small_base import filled


@dataclass(frozen=True, slots=True)
class Reached:
    """One knowledge base: by address over HTTP, and by the settings of a server over standard input and output."""

    base: str
    settings: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        return child_environment(**self.settings)

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"


@pytest.fixture(scope="session")
def clients() -> Path:
    """The ``node_modules`` with the clients of others."""
    try:
        return packages.installed()
    except Unavailable as reason:
        pytest.skip(f"the clients of others cannot be installed: {reason}")


@pytest.fixture(scope="session")
def reached(
    clients: Path, postgres: EmbeddedPostgres, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Reached]:
    folder = tmp_path_factory.mktemp("clients")
    with database(postgres, template) as url:
        apart(_fill(url, folder))
        # The conformance suite sends more at once than a caller may.
        with served(folder, HARRY_DATABASE_URL=url, HARRY_HTTP__CALLS_PER_MINUTE="0") as server:
            yield Reached(server.base, {"HARRY_DATABASE_URL": url, "HARRY_DATA_DIR": str(folder)})


async def _fill(url: str, folder: Path) -> None:
    settings = load_settings({"HARRY_DATABASE_URL": url, "HARRY_DATA_DIR": str(folder)})
    async with await App.open(settings) as app:
        await filled(app)
