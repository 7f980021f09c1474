"""CUR-9: the digest by mail, over STARTTLS, once a day."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.domain.digest import MailState
from harry_mcp.domain.notifications import Notification
from harry_mcp.errors import DeliveryUnknown, JobBusy, ProviderError, ProviderNotConfigured, SettingsError
from harry_mcp.loop.digesting import DigestFlow
from harry_mcp.providers.smtp import SmtpNotifier
from harry_mcp.settings import load_settings
from harry_mcp.storage.database import Database
from tests.jobs.post_office import PASSWORD, USER, Held, PostOffice, post_office
from tests.jobs.week import HOSTILE, UNTIL, fill
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("CUR-9")
MESSAGE = Notification(key="k", subject="s", text="t\n.\nt", html="<p>h</p>")
Flow = Callable[..., DigestFlow]


@pytest.fixture
async def flow(database: Database, connection: AsyncConnection[Any], office: PostOffice) -> Flow:
    """Flows that send to the office, with a clock of the test's own."""
    await fill(connection)

    def made(*recipients: str, at: datetime = UNTIL, subject: str = "HubSpot") -> DigestFlow:
        settings = load_settings(office.environment(*recipients))
        notifier = SmtpNotifier(settings.mail)
        return DigestFlow(settings.digest, settings.mail, database, notifier, subject=subject, clock=lambda: at)

    return made


async def states(connection: AsyncConnection[Any]) -> list[tuple[Any, ...]]:
    return await rows(connection, "SELECT state, attempt FROM digest_mails ORDER BY day")


async def nothing() -> None:
    """No last step."""


@pytest.mark.promise("OPS-1")
async def test_the_mail_arrives_whole_and_encrypted(flow: Flow, office: PostOffice) -> None:
    mailing = await flow(subject="Keys\r\nBcc: eve@example.com").mail()
    assert mailing.sent_now
    assert mailing.mail
    assert (mailing.mail.state, mailing.mail.recipients) == (MailState.SENT, 2)
    (mail,) = office.mails
    assert (office.encrypted, office.users) == ([True], [USER.encode()])
    assert office.envelopes == [["ann@example.com", "bob@example.com"]]
    assert mail["From"] == USER
    assert mail["To"] == "ann@example.com, bob@example.com"
    assert (
        mail["Subject"] == "Keys Bcc: eve@example.com knowledge base: 6 waiting, 3 new flags, 28% of searches escalated"
    )
    assert mail["Bcc"] is None
    assert mail["Message-ID"].endswith("@example.com>")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert [part.get_content_type() for part in mail.walk()] == [
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
    ]
    text, page = mail.get_body(("plain",)), mail.get_body(("html",))
    assert text is not None
    assert page is not None
    assert HOSTILE in text.get_content()
    assert HOSTILE not in page.get_content()
    assert 'src="cid:chart"' in page.get_content()
    picture = next(part for part in mail.walk() if part.get_content_type() == "image/png")
    assert (picture["Content-ID"], picture.get_content_disposition()) == ("<chart>", "inline")
    assert picture.get_content().startswith(b"\x89PNG")


async def test_it_is_sent_once_a_day_and_again_on_the_next(
    flow: Flow, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    assert (await flow().mail()).sent_now
    again = await flow(at=UNTIL + timedelta(hours=17)).mail()
    assert not again.sent_now
    assert again.mail
    assert again.mail.state == MailState.SENT
    assert (await flow(at=UNTIL + timedelta(hours=18)).mail()).sent_now
    assert len(office.mails) == 2
    assert office.mails[0]["Message-ID"] != office.mails[1]["Message-ID"]
    assert await states(connection) == [("sent", 1), ("sent", 1)]


async def test_of_several_that_send_at_once_one_does(flow: Flow, office: PostOffice) -> None:
    ended = await asyncio.gather(*(flow().mail() for _ in range(4)), return_exceptions=True)
    assert all(isinstance(each, JobBusy) or not isinstance(each, BaseException) for each in ended), ended
    assert len(office.mails) == 1


async def test_a_refused_mail_is_tried_again_under_the_same_name(
    flow: Flow, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    office.answers = ["451 come back later"]
    with pytest.raises(ProviderError, match="refused the mail: 451 come back later"):
        await flow().mail()
    assert await states(connection) == [("failed", 1)]
    assert (await flow().mail()).sent_now
    assert await states(connection) == [("sent", 2)]
    assert len(office.mails) == 1


async def test_a_mail_that_may_have_been_delivered_is_not_sent_again(
    flow: Flow, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    office.answers = ["hang up"]
    with pytest.raises(DeliveryUnknown, match="may have been delivered"):
        await flow().mail()
    again = await flow().mail()
    assert again.mail
    assert (again.sent_now, again.mail.state) == (False, MailState.UNKNOWN)
    assert len(office.mails) == 1
    assert await states(connection) == [("unknown", 1)]


async def test_a_sender_that_was_overtaken_stops_before_the_end(
    flow: Flow, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    office.at_recipient = Held()
    slow = asyncio.ensure_future(flow().mail())
    await office.at_recipient.reached.wait()
    # As when its connection to PostgreSQL was lost, and with it the lock that another one then took.
    await connection.execute(b"UPDATE digest_mails SET attempt = attempt + 1")
    office.at_recipient.go.set()
    with pytest.raises(JobBusy, match="Another process began"):
        await slow
    assert office.mails == []


async def test_one_recipient_that_is_refused_keeps_the_mail_from_nobody_else(flow: Flow, office: PostOffice) -> None:
    office.unknown = {"bob@example.com"}
    mailing = await flow().mail()
    assert mailing.refused == ("bob@example.com: 550 no such user here",)
    assert mailing.mail
    assert mailing.mail.error == "Refused: bob@example.com: 550 no such user here"
    assert office.envelopes == [["ann@example.com"]]
    with pytest.raises(ProviderError, match="refused all recipients"):
        await flow("bob@example.com", at=UNTIL + timedelta(days=1)).mail()


async def test_nothing_is_sent_to_a_server_that_cannot_show_who_it_is(office: PostOffice, tmp_path: Path) -> None:
    stranger = load_settings({**office.environment(), "HARRY_MAIL__CA_FILE": ""})
    with pytest.raises(ProviderNotConfigured, match=r"certificate that is not trusted .* HARRY_MAIL__CA_FILE"):
        await SmtpNotifier(stranger.mail).send(MESSAGE, last_step=nothing)
    other = load_settings({**office.environment(), "HARRY_MAIL__HOST": "localhost"})
    with pytest.raises(ProviderNotConfigured, match="certificate that is not trusted"):
        await SmtpNotifier(other.mail).send(MESSAGE, last_step=nothing)
    absent = load_settings({**office.environment(), "HARRY_MAIL__CA_FILE": str(tmp_path / "none.pem")})
    with pytest.raises(ProviderError, match="No such file"):
        await SmtpNotifier(absent.mail).send(MESSAGE, last_step=nothing)
    async with post_office(tmp_path, tls=False) as open_office:
        bare = load_settings(open_office.environment() | {"HARRY_MAIL__CA_FILE": ""})
        with pytest.raises(ProviderNotConfigured, match="STARTTLS"):
            await SmtpNotifier(bare.mail).send(MESSAGE, last_step=nothing)
        assert (open_office.mails, open_office.users) == ([], [])
    assert (office.mails, office.users) == ([], [])


async def test_what_the_server_refuses_is_told_without_the_password(office: PostOffice) -> None:
    wrong = load_settings({**office.environment(), "HARRY_MAIL__PASSWORD": "not-this-one"})
    with pytest.raises(ProviderNotConfigured, match="refused the user: 535") as caught:
        await SmtpNotifier(wrong.mail).send(MESSAGE, last_step=nothing)
    assert "not-this-one" not in str(caught.value)
    assert PASSWORD not in repr(load_settings(office.environment()))
    gone = load_settings({**office.environment(), "HARRY_MAIL__PORT": "1"})
    with pytest.raises(ProviderError, match=r"cannot be used: .* Check HARRY_MAIL__HOST, HARRY_MAIL__PORT") as caught:
        await SmtpNotifier(gone.mail).send(MESSAGE, last_step=nothing)
    assert "Errno" not in str(caught.value)


async def test_a_line_with_a_point_does_not_end_the_message(office: PostOffice) -> None:
    await SmtpNotifier(load_settings(office.environment()).mail).send(MESSAGE, last_step=nothing)
    text = office.mails[0].get_body(("plain",))
    assert text is not None
    assert text.get_content().replace("\r\n", "\n") == "t\n.\nt\n"


async def test_without_a_server_there_is_a_digest_and_no_mail(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    settings = load_settings({"HARRY_MAIL__RECIPIENTS": "ann@example.com"})
    assert not settings.mail.configured
    mailing = await DigestFlow(settings.digest, settings.mail, database, None).mail()
    assert (mailing.mail, mailing.sent_now) == (None, False)
    assert await states(connection) == []


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"HARRY_MAIL__RECIPIENTS": "ann@example.com\r\nBcc: eve@example.com"}, "no mail address"),
        ({"HARRY_MAIL__SENDER": "Ann <ann@example.com>"}, "no mail address"),
        ({"HARRY_MAIL__SENDER": "a@example.com,b@example.com"}, "more than one address"),
        ({"HARRY_MAIL__SECURITY": "none", "HARRY_MAIL__PASSWORD": "x"}, "sent in the clear"),
        ({"HARRY_JOBS__KEEP_DAYS": "7"}, "at least 60"),
    ],
)
def test_settings_that_cannot_be_used_are_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load_settings(environ)
