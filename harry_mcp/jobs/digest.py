"""The job digest: CUR-9, made once a day and mailed once a day."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.digest import MailState
from harry_mcp.domain.jobs import JobReport
from harry_mcp.jobs.job import Job
from harry_mcp.loop.digesting import Mailing
from harry_mcp.stages.curate.digest import headline


async def _run(app: App) -> JobReport:
    mailing = await app.loop.digest.mail()
    digest = mailing.digest
    return JobReport(
        summary=f"{headline(digest)}. {_mail(mailing)}",
        figures={
            "waiting": digest.waiting.total,
            "flags": digest.flags,
            "searches": digest.this_week.searches,
            "weak": digest.this_week.weak,
            "mailed": int(mailing.sent_now),
        },
        partial=bool(mailing.refused),
    )


def _mail(mailing: Mailing) -> str:
    mail = mailing.mail
    if mail is None:
        return "No mail: HARRY_MAIL__HOST or HARRY_MAIL__RECIPIENTS is empty."
    if mailing.sent_now:
        taken = mail.recipients - len(mailing.refused)
        refused = f" Refused: {'; '.join(mailing.refused)}." if mailing.refused else ""
        return f"Mailed to {taken} of {mail.recipients} recipients.{refused}"
    if mail.state == MailState.UNKNOWN:
        return f"Not mailed. {mail.error}"
    return f"The mail of {mail.day} was sent at {mail.changed_at:%H:%M} already."


JOB = Job("digest", "Make the digest and mail it, once a day", _run)
