"""What the doctor says of jobs and mail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from harry_mcp.cli.doctor_check import Check
from harry_mcp.cli.ends import ExitCode
from harry_mcp.cli.jobs import JobStanding, last_in_words, standings
from harry_mcp.domain.digest import DigestMail, MailState
from harry_mcp.domain.jobs import JobState
from harry_mcp.errors import HarryError, SettingsError
from harry_mcp.settings import Settings

if TYPE_CHECKING:
    from harry_mcp.storage.database import Database

_BAD = frozenset({JobState.FAILED, JobState.LOST})


# Longer than any run takes; one that still runs then belongs to a worker that died, and none came to take it over.
_STUCK = timedelta(hours=6)
# The digest is daily.
_QUIET = timedelta(hours=48)


async def job_checks(database: Database, settings: Settings) -> list[Check]:
    """Of the jobs, and of the mail."""
    async with database.reading() as unit:
        mail = await unit.digests.last_mail()
    try:
        found = await standings(database, settings)
    except SettingsError as error:
        return [Check.failed("jobs", error), await _mail(settings, mail)]
    return [_jobs(found), await _mail(settings, mail)]


def _jobs(found: list[JobStanding]) -> Check:
    ran = [each for each in found if each.last]
    due = sorted((each.next_run, each.name) for each in found if each.next_run)
    following = f"; next {due[0][1]} at {due[0][0]:%d %b %H:%M} UTC" if due else "; none is scheduled"
    if not ran:
        return Check("jobs", True, f"none has run yet; start `harry worker`{following}")
    bad = [each for each in ran if each.last and each.last.state in _BAD]
    if bad:
        told = "; ".join(f"{each.name}: {last_in_words(each.last).rstrip('.')}" for each in bad)
        return Check("jobs", False, f"{told}. `harry jobs run NAME` tries one again")
    now = datetime.now(UTC)
    stuck = [
        each for each in ran if each.last and each.last.finished_at is None and now - each.last.started_at > _STUCK
    ]
    if stuck:
        told = "; ".join(f"{each.name}: {last_in_words(each.last)}" for each in stuck)
        return Check("jobs", False, f"{told}, so its worker has died. Start `harry worker`, which takes it over")
    newest = max((each.last for each in ran if each.last), key=lambda run: run.started_at)
    quiet = "; is a `harry worker` running?" if due and now - newest.started_at > _QUIET else ""
    last = f"last {newest.job} {last_in_words(newest).rstrip('.')}"
    return Check("jobs", True, f"{len(ran)} of {len(found)} have run, {last}{following}{quiet}")


async def _mail(settings: Settings, mail: DigestMail | None) -> Check:
    from harry_mcp.providers.factory import build_notifier

    section = settings.mail
    if not section.configured:
        lacking = "HARRY_MAIL__HOST" if not section.host else "HARRY_MAIL__RECIPIENTS"
        return Check("mail", True, f"none: {lacking} is empty, so the digest is not mailed")
    notifier = build_notifier(settings)
    if notifier is not None:
        try:
            await notifier.check()
        except HarryError as error:
            return Check.failed("mail", error)
    way = f"by {section.host}:{section.port} ({section.security}) to {len(section.addresses)} recipients"
    if mail is None:
        return Check("mail", True, f"{way}; no digest was sent yet")
    told = f"{way}; the digest of {mail.day} {_STATES[MailState(mail.state)]}"
    well = mail.state in (MailState.SENT, MailState.CLAIMED, MailState.HANDED)
    why = f": {mail.error}" if mail.error else ""
    return Check("mail", well, f"{told}, {mail.changed_at.astimezone(UTC):%H:%M} UTC{why}", ExitCode.PROVIDER)


_STATES = {
    MailState.CLAIMED: "is being made",
    MailState.HANDED: "is with the mail server",
    MailState.SENT: "was sent",
    MailState.FAILED: "failed",
    MailState.UNKNOWN: "may have been delivered",
}
