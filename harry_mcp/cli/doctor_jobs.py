"""What the doctor says of jobs and mail."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from harry_mcp.cli.jobs import JobStanding, last_in_words, standings
from harry_mcp.domain.digest import DigestMail, MailState
from harry_mcp.domain.jobs import JobState
from harry_mcp.errors import SettingsError
from harry_mcp.settings import Settings

if TYPE_CHECKING:
    from harry_mcp.storage.database import Database

Finding = tuple[str, bool, str]
_BAD = frozenset({JobState.FAILED, JobState.LOST})


async def job_findings(database: Database, settings: Settings) -> list[Finding]:
    """Name, whether it is well, and what is found: of the jobs, and of the mail."""
    async with database.reading() as unit:
        mail = await unit.digests.last_mail()
    try:
        found = await standings(database, settings)
    except SettingsError as error:
        return [("jobs", False, str(error)), _mail(settings, mail)]
    return [_jobs(found), _mail(settings, mail)]


def _jobs(found: list[JobStanding]) -> Finding:
    ran = [each for each in found if each.last]
    due = sorted((each.next_run, each.name) for each in found if each.next_run)
    following = f"; next {due[0][1]} at {due[0][0]:%d %b %H:%M} UTC" if due else "; none is scheduled"
    if not ran:
        return "jobs", True, f"none has run yet; start `harry worker`{following}"
    bad = [each for each in ran if each.last and each.last.state in _BAD]
    if bad:
        told = "; ".join(f"{each.name}: {last_in_words(each.last).rstrip('.')}" for each in bad)
        return "jobs", False, f"{told}. `harry jobs run NAME` tries one again"
    newest = max((each.last for each in ran if each.last), key=lambda run: run.started_at)
    return (
        "jobs",
        True,
        f"{len(ran)} of {len(found)} have run, last {newest.job} {last_in_words(newest).rstrip('.')}{following}",
    )


def _mail(settings: Settings, mail: DigestMail | None) -> Finding:
    section = settings.mail
    if not section.configured:
        lacking = "HARRY_MAIL__HOST" if not section.host else "HARRY_MAIL__RECIPIENTS"
        return "mail", True, f"none: {lacking} is empty, so the digest is not mailed"
    way = f"by {section.host}:{section.port} ({section.security}) to {len(section.addresses)} recipients"
    if mail is None:
        return "mail", True, f"{way}; no digest was sent yet"
    told = f"{way}; the digest of {mail.day} {_STATES[MailState(mail.state)]}"
    well = mail.state in (MailState.SENT, MailState.CLAIMED, MailState.HANDED)
    why = f": {mail.error}" if mail.error else ""
    return "mail", well, f"{told}, {mail.changed_at.astimezone(UTC):%H:%M} UTC{why}"


_STATES = {
    MailState.CLAIMED: "is being made",
    MailState.HANDED: "is with the mail server",
    MailState.SENT: "was sent",
    MailState.FAILED: "failed",
    MailState.UNKNOWN: "may have been delivered",
}
