"""A real SMTP server with STARTTLS and an authority of its own, that can be told to be slow, rude, or to hang up."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from ipaddress import IPv4Address
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

USER, PASSWORD = "digest@example.com", "hush-hush"


@dataclass
class Held:
    """A place where the server waits: ``reached`` once a client is there, until ``go``."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class PostOffice:
    """What it took, and what it is to answer. ``answers`` are given for DATA one after the other, then 250."""

    port: int = 0
    ca_file: Path = Path()
    mails: list[EmailMessage] = field(default_factory=list[EmailMessage])
    envelopes: list[list[str]] = field(default_factory=list[list[str]])
    encrypted: list[bool] = field(default_factory=list[bool])
    users: list[bytes] = field(default_factory=list[bytes])
    answers: list[str] = field(default_factory=list[str])
    unknown: set[str] = field(default_factory=set[str])
    at_recipient: Held | None = None
    at_end: Held | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def environment(self, *recipients: str) -> dict[str, str]:
        """The settings that lead here."""
        return {
            "HARRY_MAIL__HOST": "127.0.0.1",
            "HARRY_MAIL__PORT": str(self.port),
            "HARRY_MAIL__CA_FILE": str(self.ca_file),
            "HARRY_MAIL__USERNAME": USER,
            "HARRY_MAIL__PASSWORD": PASSWORD,
            "HARRY_MAIL__RECIPIENTS": ", ".join(recipients or ("ann@example.com", "bob@example.com")),
            "HARRY_MAIL__TIMEOUT": "20",
        }

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.at_recipient:
            self.at_recipient.reached.set()
            await self.at_recipient.go.wait()
        if address in self.unknown:
            return "550 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        answer = self.answers.pop(0) if self.answers else "250 OK"
        if answer.startswith("4"):
            return answer
        assert isinstance(envelope.content, bytes)
        self.mails.append(BytesParser(EmailMessage, policy=policy.default).parsebytes(envelope.content))  # pyright: ignore[reportArgumentType]
        self.envelopes.append(list(envelope.rcpt_tos))
        self.encrypted.append(session.ssl is not None)
        self.arrived.set()
        if self.at_end:
            self.at_end.reached.set()
            await self.at_end.go.wait()
        if answer == "hang up":
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
        return answer

    def check_user(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: object
    ) -> AuthResult:
        assert isinstance(given, LoginPassword)
        self.users.append(given.login)
        return AuthResult(success=given == LoginPassword(USER.encode(), PASSWORD.encode()), handled=False)


@asynccontextmanager
async def post_office(folder: Path, *, tls: bool = True) -> AsyncGenerator[PostOffice, None]:
    """The server on a port of its own, and no client left at the end."""
    office = PostOffice()
    context = _authority(folder) if tls else None
    office.ca_file = folder / "authority.pem"

    def made() -> SMTP:
        return SMTP(
            office,
            hostname="post.example.com",
            tls_context=context,
            require_starttls=tls,
            authenticator=office.check_user,
            auth_required=tls,
            auth_require_tls=True,
            loop=asyncio.get_running_loop(),
        )

    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    office.port = server.sockets[0].getsockname()[1]
    try:
        yield office
    finally:
        for held in (office.at_recipient, office.at_end):
            if held:
                held.go.set()
        server.close()
        await server.wait_closed()


def _authority(folder: Path) -> ssl.SSLContext:
    """A certificate for 127.0.0.1 that signs itself; it lies in ``authority.pem``."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "post.example.com")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "authority.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    return context
