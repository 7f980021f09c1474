"""Dead source: the page that a document was read from is gone, moved to another site, or out of reach for days.

Each address is asked once a day, and what it answers is kept: a document is flagged for what stands there. A run may be
ended at any moment; what it did not come to is due still.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Protocol
from urllib.parse import urlsplit

from harry_mcp.domain.rot import CheckReport, CheckState, RotSignal
from harry_mcp.domain.sources import Answered, Probe, SourceState, SourceVerdict, verdict
from harry_mcp.stages.curate.checking import CheckRun
from harry_mcp.stages.curate.network import Network
from harry_mcp.storage.source_checks import DueAddress, SkippedAddresses
from harry_mcp.storage.unit_of_work import UnitOfWork

SIGNAL = RotSignal.DEAD_SOURCE
# Addresses of a host, all turned away, from which on it is us whom it refuses and not the pages that are gone.
_A_BLOCK = 5
_MOST_EVIDENCE = 10


class SourceProbe(Protocol):
    """Asks the addresses of one host whether they are there."""

    @property
    def allow_private(self) -> bool:
        """Whether addresses of a local network are asked too."""
        ...

    def visit(self, addresses: Sequence[str], *, until: float) -> AsyncGenerator[tuple[str, Probe], None]:
        """What they answer, as the answers come; some may be left out."""
        ...


async def check(run: CheckRun, probe: SourceProbe) -> None:
    """Ask the addresses that are due, keep the answers, and flag the documents behind those that are dead."""
    async with run.database.reading() as unit:
        due = await unit.source_checks.due(
            now=run.now, limit=run.settings.probe_urls, allow_private=probe.allow_private
        )
    told = {each.url: each.told for each in due}
    network = Network()
    places = asyncio.Semaphore(run.settings.probe_hosts)

    async def one(host: str, addresses: Sequence[str]) -> None:
        async with places:
            if not run.late:
                await _host(run, probe, network, addresses, told)

    await asyncio.gather(*(one(host, addresses) for host, addresses in _by_host(due).items()))
    await _settle(run, network, told)
    run.report.left = (due[0].total if due else 0) - run.report.examined - run.report.skipped
    async with run.database.transaction() as unit:
        await unit.source_checks.prune((run.now - timedelta(days=run.settings.history_days)).date())
        _tell(run.report, await unit.source_checks.skipped(allow_private=probe.allow_private))


def _tell(report: CheckReport, skipped: SkippedAddresses) -> None:
    """Say of every address that may not be asked, by this run or an earlier one, why not and what lets it be."""
    report.skipped = skipped.private + skipped.unusable
    notes: list[str] = []
    if skipped.private:
        notes.append(
            f"{skipped.private} not asked because they are private addresses: set HARRY_INGEST__PRIVATE_ADDRESSES to "
            "true to have them checked"
        )
    if skipped.unusable:
        notes.append(f"{skipped.unusable} not asked because they are no web addresses, or hold a password")
    report.note = "; ".join(notes)


def _by_host(due: Sequence[DueAddress]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for each in due:
        groups[_host_of(each.url)].append(each.url)
    return groups


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).netloc.lower()
    except ValueError:
        return ""


async def _host(
    run: CheckRun, probe: SourceProbe, network: Network, addresses: Sequence[str], told: Mapping[str, bool]
) -> None:
    found: dict[str, Probe] = {}
    async with aclosing(probe.visit(addresses, until=run.until)) as answers:
        async for address, answer in answers:
            if answer.outcome is SourceState.SKIPPED:
                run.report.skipped += 1
            else:
                run.report.examined += 1
            if network.takes(address, answer):
                found[address] = answer
                await _keep(run, address, answer, told=told[address])
    await _out_of_reach(run, found)


async def _settle(run: CheckRun, network: Network, told: Mapping[str, bool]) -> None:
    """Keep the answers that waited, if the silence is the sites' and not ours."""
    fault = network.fault()
    if fault:
        run.report.state, run.report.error = CheckState.FAILED, fault
        run.report.examined -= len(network.held)
        return
    for address, answer in network.held:
        await _keep(run, address, answer, told=told[address])
    await _out_of_reach(run, dict(network.held))


async def _keep(run: CheckRun, url: str, answer: Probe, *, told: bool) -> None:
    """Keep an answer; in the same transaction flag for a clear one, or take back what was said of one that is back."""
    if answer.outcome is not SourceState.SKIPPED:
        run.report.count(answer.outcome.value)
    async with run.database.transaction() as unit:
        await unit.source_checks.record(url, _host_of(url), answer, now=run.now)
        if answer.outcome is SourceState.DEAD:
            run.report.count("moved_to_another_site" if answer.location else "gone")
            await _flag(run, unit, url, await unit.source_checks.history(url))
        elif answer.outcome is SourceState.ALIVE and told:
            await _recovered(run, unit, url)


async def _out_of_reach(run: CheckRun, found: Mapping[str, Probe]) -> None:
    """Flag for unclear answers on many days, unless the host turns all of us away, which says nothing of its pages."""
    refused = [address for address, answer in found.items() if answer.refused]
    if len(refused) >= _A_BLOCK and len(refused) == len(found):
        run.report.count("hosts_that_refuse_us")
        return
    for address, answer in found.items():
        if answer.outcome is SourceState.UNCLEAR:
            async with run.database.transaction() as unit:
                await _flag(run, unit, address, await unit.source_checks.history(address))


async def _flag(run: CheckRun, unit: UnitOfWork, url: str, history: Sequence[Answered]) -> None:
    found = verdict(history, run.settings.bad_days)
    if found is None:
        return
    for document in await unit.source_checks.documents_at(url):
        detail = detail_of(found, history)
        await run.flag(unit, (document.id, document.title), detail, evidence=found.evidence, why=found.why)


def detail_of(found: SourceVerdict, history: Sequence[Answered]) -> dict[str, object]:
    """What the log keeps of a verdict: the address, since when, and the last answers as evidence."""
    return {
        "kind": found.kind,
        "url": found.last.url,
        "since": f"{found.since}",
        "days": found.days,
        "status": found.last.status,
        "reason": found.last.reason,
        "location": found.last.location,
        "evidence": [answer.as_json() for answer in history[:_MOST_EVIDENCE]],
    }


async def _recovered(run: CheckRun, unit: UnitOfWork, url: str) -> None:
    """Stop telling readers that a source is dead which is back; the document stays flagged until somebody looks."""
    for document in await unit.source_checks.documents_at(url):
        if await unit.documents.drop_caveat(document.id, SIGNAL.value):
            run.report.count("recovered")
            detail = {"url": url, "since": f"{run.now:%Y-%m-%d}"}
            await unit.curation.add(document.id, "recovered", signal=SIGNAL.value, actor=run.actor, detail=detail)
