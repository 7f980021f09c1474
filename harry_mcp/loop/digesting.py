"""The digest for whoever asks, and by mail once a day."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from harry_mcp.domain.digest import Digest, DigestMail, MailState
from harry_mcp.errors import DeliveryUnknown, HarryError, JobBusy
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.ports import Notifier
from harry_mcp.settings import DigestSection, MailSection
from harry_mcp.stages.curate.digest import gather
from harry_mcp.storage.database import Database

_LOCK = "mail"
_DIED = "Its sender died while the mail server had it. It may have been delivered, so it is not sent again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailing:
    """What became of today's mail. ``sent_now``: by this call. ``mail`` is None when no mail server is set.

    ``refused`` names recipients that the server would not take it for, with its words.
    """

    digest: Digest
    mail: DigestMail | None
    sent_now: bool = False
    refused: tuple[str, ...] = ()


class DigestFlow(OnDatabase):
    """Counts and sends. ``clock`` says which day it is, in UTC."""

    def __init__(
        self,
        settings: DigestSection,
        mail: MailSection,
        database: Database,
        notifier: Notifier | None,
        *,
        subject: str = "",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(database)
        self._settings = settings
        self._mail = mail
        self._notifier = notifier
        self._subject = subject
        self._clock = clock

    @healed
    async def digest(self, *, top: int = 0) -> Digest:
        """The state now. ``top`` gaps, documents and events are named; 0 takes the setting.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        async with self._database.reading() as unit:
            return await gather(unit, self._settings, until=self._clock().astimezone(UTC), top=top)

    @healed
    async def mail(self) -> Mailing:
        """Send the digest of this day (UTC), unless that was done.

        A failed try is made again at the next call, and so is one whose process died before the mail server had all of
        the message. One that died between that and the server's answer is not: rather no mail on one day than two.

        Raises:
            JobBusy: another process is sending it.
            ProviderError: the mail server failed; the next call tries again, unless it is ``DeliveryUnknown``.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        digest = await self.digest()
        if self._notifier is None:
            return Mailing(digest=digest, mail=None)
        async with self._database.session() as held:
            if not await held.job_runs.try_lock(_LOCK):
                raise JobBusy("Another process is sending the digest.")
            return await self._send(digest, self._notifier)

    async def _send(self, digest: Digest, notifier: Notifier) -> Mailing:
        # Drawing the chart takes its import with it, a second on a slow machine: only when there is something to send.
        from harry_mcp.stages.curate.digest_mail import compose

        day = digest.until.date()
        async with self._database.transaction() as unit:
            await unit.digests.give_up_mail(day, _DIED)
            claim = await unit.digests.claim_mail(day, len(self._mail.addresses))
        if claim is None:
            return Mailing(digest=digest, mail=await self._state(digest))

        async def note(state: MailState, error: str = "") -> None:
            async with self._database.transaction() as unit:
                if not await unit.digests.mail_state(day, claim.attempt, state, error):
                    raise JobBusy("Another process began to send the digest meanwhile.")

        try:
            message = await asyncio.to_thread(compose, digest, key=claim.key, subject=self._subject)
            delivery = await notifier.send(message, last_step=lambda: note(MailState.HANDED))
        except DeliveryUnknown as error:
            await note(MailState.UNKNOWN, str(error))
            raise
        except JobBusy:
            raise
        except HarryError as error:
            await note(MailState.FAILED, str(error))
            raise
        refused = tuple(delivery.refused)
        await note(MailState.SENT, f"Refused: {'; '.join(refused)}" if refused else "")
        return Mailing(digest=digest, mail=await self._state(digest), sent_now=True, refused=refused)

    async def _state(self, digest: Digest) -> DigestMail | None:
        async with self._database.reading() as unit:
            return await unit.digests.mail_of(digest.until.date())
