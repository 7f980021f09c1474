"""RUN-5: one settings object, unknown keys refused, secrets never printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from harry_mcp.errors import SettingsError
from harry_mcp.profile import load_profile
from harry_mcp.settings import load_settings, setting_names


@pytest.mark.promise("RUN-5")
@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"HARRY_RETREIVE__K": "7"}, "Did you mean HARRY_RETRIEVE__K?"),
        ({"HARRY_RETRIEVE__KK": "7"}, "Did you mean HARRY_RETRIEVE__K?"),
        ({"HARRY_XYZZY": "1"}, "There is no setting HARRY_XYZZY."),
        (
            {"HARRY_RETRIEVE__K": "700"},
            "HARRY_RETRIEVE__K cannot be used: it should be less than or equal to 50. Correct",
        ),
        ({"HARRY_RETRIEVE__K": "five"}, "HARRY_RETRIEVE__K cannot be used: it should be a valid integer, unable"),
        (
            {"HARRY_JOBS__KEEP_DAYS": "9"},
            "cannot be used: it must be 0 or at least 60. Correct it, or leave it out for 365",
        ),
        (
            {"HARRY_ROLE": "boss"},
            "HARRY_ROLE cannot be used: it should be 'reader', 'contributor', 'curator' or 'admin'. C",
        ),
        ({"HARRY_INGEST__LOCAL_PATHS": "maybe"}, "Correct it, or leave it out for true."),
        (
            {"HARRY_AUTH__ISSUER": "https://i.example"},
            "settings HARRY_AUTH__* cannot be used: an issuer needs the address",
        ),
        ({"HARRY_HTTP__TOKEN": "hush"}, "HARRY_HTTP__TOKEN cannot be used: a token has"),
        ({"HARRY_DATABASE_URL": "postgresql://u:ge@hush@db.example/kb"}, "In the password write @ as %40 and / as %2F"),
        ({"HARRY_DATABASE_URL": "postgres://u:ge@hush:5@db.example/kb"}, "In the password write @ as %40 and / as %2F"),
        ({"HARRY_DATABASE_URL": "postgresql://u:12/hush@db.example/kb"}, "In the password write @ as %40 and / as %2F"),
        ({"HARRY_DATABASE_URL": "postgresql://u:ge@hu/hush@db.example"}, "In the password write @ as %40 and / as %2F"),
        ({"HARRY_DATABASE_URL": "postgresql://u:hush/kb?sslmode=require"}, "what stands behind its host is no port"),
        ({"HARRY_RANK__STRONG": "0.4"}, "HARRY_RANK__MODERATE is above HARRY_RANK__STRONG"),
        ({"HARRY_INGEST__CHUNK_MAXIMUM": "300"}, "HARRY_INGEST__CHUNK_MAXIMUM is under"),
    ],
)
def test_what_cannot_be_used_is_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)) as caught:
        load_settings(environ)
    for of_the_library in ("Value error", "Input should", "hush", ".."):
        assert of_the_library not in str(caught.value)


@pytest.mark.promise("RUN-5")
def test_values_arrive_and_secrets_stay_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARRY_RETRIEVE__K", "7")
    monkeypatch.setenv("HARRY_DATABASE_URL", "postgresql://harry:hush@db/harry")
    settings = load_settings()
    assert settings.retrieve.k == 7
    assert "hush" not in repr(settings)
    assert settings.database_url.get_secret_value().endswith("hush@db/harry")


@pytest.mark.promise("RUN-5")
@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:p%40q%2Fr@db.example:5432/kb?sslmode=require",
        "postgresql://u:p:q#r?s@db.example/kb",
        "postgres://u@one.example:5432,two.example:5433/kb",
        "postgresql://[::1]:5432/kb",
        "postgresql://%2Frun%2Fpostgresql/kb",
        "postgresql:///kb?host=/run/postgresql&user=me@here",
        "postgresql://db.example/kb?user=me@here&password=p@q/r",
        "host=db.example user=u password=p@q/r dbname=kb",
    ],
)
def test_an_address_that_is_cut_as_it_was_meant_is_taken(address: str) -> None:
    assert load_settings({"HARRY_DATABASE_URL": address}).database_url.get_secret_value() == address
    conninfo_to_dict(address)


@pytest.mark.promise("RUN-5")
def test_every_setting_is_described() -> None:
    assert all(len(description) > 15 for description in setting_names().values())


@pytest.mark.promise("RUN-5")
def test_the_example_profile_loads_and_faults_are_named(tmp_path: Path) -> None:
    import harry_mcp

    example = Path(harry_mcp.__file__).parent / "profiles" / "hubspot.toml"
    assert load_profile(example).subject == "HubSpot"
    broken = tmp_path / "p.toml"
    broken.write_text("glosary = {}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="glosary"):
        load_profile(broken)
    broken.write_text("= 1", encoding="utf-8")
    with pytest.raises(SettingsError, match="not TOML"):
        load_profile(broken)
    with pytest.raises(SettingsError, match="cannot be read"):
        load_profile(tmp_path / "absent.toml")
