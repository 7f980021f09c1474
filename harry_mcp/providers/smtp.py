"""Mail by SMTP: an encrypted connection to one server, one message to all recipients."""

from __future__ import annotations

import asyncio
import re
import smtplib
import socket
import ssl
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, localtime

from harry_mcp.domain.notifications import Delivery, Notification
from harry_mcp.domain.plain import sanitised
from harry_mcp.errors import DeliveryUnknown, ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.settings.notifying import MailSection

# A line that begins with a point gets another, so that none ends the message before its time (RFC 5321, 4.5.2).
_POINT = re.compile(rb"^\.", re.MULTILINE)
_WORDS = 200


class SmtpNotifier:
    """The mail server of the settings. Every message is a connection of its own: there is one a day."""

    def __init__(self, settings: MailSection) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        return f"{self._settings.host}:{self._settings.port}"

    async def send(self, message: Notification, *, last_step: Callable[[], Awaitable[None]]) -> Delivery:
        """See :class:`harry_mcp.ports.Notifier`."""
        loop = asyncio.get_running_loop()

        async def step() -> None:
            await last_step()

        def before_the_end() -> None:
            # From the thread that speaks to the server into the loop that the database belongs to.
            asyncio.run_coroutine_threadsafe(step(), loop).result(self._settings.timeout)

        line = _Line()
        try:
            return await asyncio.to_thread(self._send, self._composed(message), before_the_end, line)
        except asyncio.CancelledError:
            # The thread would wait for the server until the time is up, and the process for the thread.
            line.cut()
            raise

    async def check(self) -> None:
        """Connect and sign in as for a message, and send none.

        Raises:
            ProviderError: the server does not let us.
        """
        await asyncio.to_thread(self._try_out)

    def _try_out(self) -> None:
        s = self._settings
        with self._translated():
            smtp = self._connected()
            try:
                smtp.ehlo_or_helo_if_needed()
                if s.username:
                    smtp.login(s.username, s.password.get_secret_value())
                with suppress(smtplib.SMTPException, OSError):
                    smtp.quit()
            finally:
                smtp.close()

    def _composed(self, message: Notification) -> bytes:
        sender = self._settings.from_address
        mail = EmailMessage(policy=SMTP)
        # No header holds stored text; the policy refuses line ends in one all the same.
        mail["Subject"] = sanitised(message.subject, _WORDS).replace("\n", " ")
        mail["From"] = sender
        mail["To"] = ", ".join(self._settings.addresses)
        mail["Date"] = format_datetime(localtime())
        mail["Message-ID"] = f"<{message.key}@{sender.rpartition('@')[2]}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(message.text, cte="quoted-printable")
        mail.add_alternative(message.html, subtype="html", cte="quoted-printable")
        shown = mail.get_payload(1)
        for picture in message.pictures:
            if isinstance(shown, EmailMessage):
                name = f"{picture.name}.png"
                shown.add_related(
                    picture.png, "image", "png", cid=f"<{picture.name}>", disposition="inline", filename=name
                )
        return mail.as_bytes()

    def _send(self, mail: bytes, last_step: Callable[[], None], line: _Line) -> Delivery:
        s = self._settings
        with self._translated():
            smtp = self._connected()
            try:
                line.hold(smtp)
                smtp.ehlo_or_helo_if_needed()
                if s.username:
                    smtp.login(s.username, s.password.get_secret_value())
                _accepted(smtp.mail(s.from_address))
                refused = [f"{each}: {_said(answer)}" for each in s.addresses if (answer := smtp.rcpt(each))[0] > 251]
                if len(refused) == len(s.addresses):
                    raise ProviderError(f"The mail server {self.name} refused all recipients. {refused[0]}")
                self._hand_over(smtp, mail, last_step)
                with suppress(smtplib.SMTPException, OSError):
                    smtp.quit()
            finally:
                smtp.close()
        no = {line.partition(":")[0] for line in refused}
        return Delivery(accepted=[each for each in s.addresses if each not in no], refused=refused)

    def _hand_over(self, smtp: smtplib.SMTP, mail: bytes, last_step: Callable[[], None]) -> None:
        """Send the message but for its last line, take the last step, and send that line: it makes it the server's."""
        code, words = smtp.docmd("DATA")
        if code != 354:
            raise smtplib.SMTPDataError(code, words)
        smtp.send(_POINT.sub(b"..", mail))
        last_step()
        try:
            smtp.send(b".\r\n")
            answer = smtp.getreply()
        except (smtplib.SMTPException, OSError) as error:
            raise DeliveryUnknown(
                f"The mail server {self.name} took the message and did not answer ({_line(str(error))}). It may have "
                "been delivered."
            ) from error
        _accepted(answer)

    def _connected(self) -> smtplib.SMTP:
        s = self._settings
        if s.security == "none":
            return smtplib.SMTP(s.host, s.port, timeout=s.timeout)
        context = ssl.create_default_context(cafile=s.ca_file)
        if s.security == "tls":
            return smtplib.SMTP_SSL(s.host, s.port, timeout=s.timeout, context=context)
        smtp = smtplib.SMTP(s.host, s.port, timeout=s.timeout)
        try:
            # Raises where the server offers none: whoever sits in between could have taken the offer out.
            smtp.starttls(context=context)
        except BaseException:
            smtp.close()
            raise
        return smtp

    @contextmanager
    def _translated(self) -> Generator[None, None, None]:
        server = f"The mail server {self.name}"
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise ProviderNotConfigured(
                f"{server} shows a certificate that is not trusted ({error.verify_message}). Set HARRY_MAIL__CA_FILE "
                "to its authority's, or HARRY_MAIL__HOST to the name in it."
            ) from error
        except smtplib.SMTPNotSupportedError as error:
            raise ProviderNotConfigured(
                f"{server} lacks what is needed ({_line(str(error))}). Check HARRY_MAIL__PORT and HARRY_MAIL__SECURITY."
            ) from error
        except smtplib.SMTPAuthenticationError as error:
            raise ProviderNotConfigured(
                f"{server} refused the user: {_said((error.smtp_code, error.smtp_error))}. Check HARRY_MAIL__USERNAME "
                "and HARRY_MAIL__PASSWORD."
            ) from error
        except TimeoutError as error:
            raise ProviderTimeout(
                f"{server} did not answer within {self._settings.timeout:g} seconds. {_CHECK}"
            ) from error
        except smtplib.SMTPResponseException as error:
            raise ProviderError(f"{server} refused the mail: {_said((error.smtp_code, error.smtp_error))}.") from error
        except (smtplib.SMTPException, OSError) as error:
            why = _line(error.strerror or str(error)).rstrip(".")
            raise ProviderError(f"{server} cannot be used: {why}. {_CHECK}") from error


_CHECK = "Check HARRY_MAIL__HOST, HARRY_MAIL__PORT and HARRY_MAIL__SECURITY."


class _Line:
    """The connection of one sending, which another thread may cut."""

    def __init__(self) -> None:
        self._smtp: smtplib.SMTP | None = None
        self._cut = False

    def hold(self, smtp: smtplib.SMTP) -> None:
        """Take a connection in; one that comes after the cut is cut at once."""
        self._smtp = smtp
        if self._cut:
            self.cut()

    def cut(self) -> None:
        """End what waits on the connection. Closing alone would not wake it."""
        self._cut = True
        if self._smtp is not None and self._smtp.sock is not None:
            with suppress(OSError):
                self._smtp.sock.shutdown(socket.SHUT_RDWR)


def _accepted(answer: tuple[int, bytes]) -> None:
    if answer[0] != 250:
        raise smtplib.SMTPResponseException(*answer)


def _said(answer: tuple[int, bytes | str]) -> str:
    words = answer[1].decode("utf-8", "replace") if isinstance(answer[1], bytes) else answer[1]
    return f"{answer[0]} {_line(words)}"


def _line(words: str) -> str:
    return " ".join(sanitised(words, _WORDS).split())
