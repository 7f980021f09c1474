"""What the doctor says of who is let in over HTTP, and of the room on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path

from harry_mcp.cli.doctor_check import Check
from harry_mcp.cli.ends import ExitCode
from harry_mcp.errors import HarryError
from harry_mcp.settings import Settings

# PostgreSQL writes a gigabyte of its log alone between two checkpoints, and stops where there is no room.
_LEAST_FREE = 2_000_000_000


async def access(settings: Settings) -> Check:
    """Whether the tokens can be read, and the keys of the issuer fetched."""
    from harry_mcp.server.issuer_keys import IssuerKeys
    from harry_mcp.server.tokens import known_tokens

    try:
        holders = len(known_tokens(settings, settings.http.token.get_secret_value()))
    except HarryError as error:
        return Check.failed("access", error)
    told = [f"{holders} tokens" if settings.auth.tokens_file is None else f"{holders} tokens, with those of a file"]
    if settings.auth.issuer:
        fault = await IssuerKeys(settings.auth).fault()
        if fault:
            where = f"the keys of HARRY_AUTH__ISSUER cannot be fetched from {settings.auth.jwks_url}"
            return Check("access", False, f"{where}: {fault}. Check HARRY_AUTH__JWKS_URL", ExitCode.PROVIDER)
        told.append(f"tokens of {settings.auth.issuer}, whose keys were fetched")
    if not holders and not settings.auth.issuer:
        return Check("access", True, "no tokens: `harry serve --http` makes one at each start; on stdio none is needed")
    return Check("access", True, "for `harry serve --http`: " + "; ".join(told))


def disk(settings: Settings) -> Check:
    """Room for the database that harry runs itself; of another one only its own machine knows."""
    if settings.database_url.get_secret_value():
        return Check("disk", True, "not looked at: the database is on a server of its own")
    place = settings.data_dir.expanduser().absolute()
    while not place.exists() and place != Path(place.anchor):
        place = place.parent
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        why = error.strerror or error
        return Check("disk", False, f"{settings.data_dir} cannot be looked at: {why}. Check HARRY_DATA_DIR")
    told = f"{free / 1e9:,.1f} GB free for {settings.data_dir}"
    if free < _LEAST_FREE:
        return Check(
            "disk", False, f"{told}: nearly full, and PostgreSQL stops when it is. Make room, or move the folder"
        )
    return Check("disk", True, told)
