"""A help centre of five hundred pages with the traps that crawlers fall into, each beside what must become of it."""

from __future__ import annotations

from tests.ingest.crawl import bad_answers
from tests.ingest.crawl.fates import FatedSite, Place
from tests.ingest.crawl.site import Site, packed, prose, sitemap

SECTIONS, PAGES = 20, 16
DEPTH = 12
LISTS = ("/robots.txt", "/llms.txt")
GOOD_MAPS = ("/maps/index.xml.gz", "/maps/docs.xml", "/maps/inner.xml", "/maps/deep.xml.gz", "/maps/plain.txt")
MAPS = (*GOOD_MAPS, "/maps/torn.xml", "/maps/bomb.xml", "/maps/cut.xml.gz")
ROBOTS = """\
User-agent: SomeOtherBot
Disallow: /

User-agent: *
Crawl-delay: 0
Disallow: /private/
Allow: /private/open
Disallow: /tmp
Disallow: /*?sort=
Disallow: /*.cgi$
Sitemap: /maps/index.xml.gz
"""
_METADATA = "http://169.254.169.254/latest/meta-data/"


def trapped(site: Site) -> FatedSite:
    """Build the site, and the list of what must become of its addresses."""
    fated = FatedSite(site)
    for family in (
        _documentation, _listed, _for_models, _calendar, _closed_by_robots, _moved, _circles, _led_away, _duplicates,
        _sessions, _spellings, _refused_links,
    ):  # fmt: skip
        family(fated)
    bad_answers.build(fated)
    fated.finish()
    return fated


def _documentation(fated: FatedSite) -> None:
    """Sections of pages that link to one another by every kind of relative address."""
    for number in range(SECTIONS):
        section = fated.hub(f"/docs/section-{number}/")
        for page in range(PAGES):
            following = (page + 1) % PAGES
            links = [f"../section-{number}/./page-{following}?utm_source=ring#part", "./", "/", "#top"]
            head = ""
            if page % 4 == 1:
                links, head = [f"page-{following}"], f'<base href="/docs/section-{number}/">'
            validator = {"etag": False, "modified": "Mon, 06 May 2024 07:08:09 GMT"} if page % 4 == 2 else {}
            fated.page(section, f"{section}page-{page}", "", *links, head=head, **validator)


def _listed(fated: FatedSite) -> None:
    """Pages that only the sitemaps know: an index in an index, gzip, plain text, and maps that are broken."""
    site, only = fated.site, [f"/listed/{number}" for number in range(24)]
    for path in only:
        fated.page("", path)
    site.put("/robots.txt", ROBOTS)
    maps = site.full(*MAPS[1:4], *MAPS[4:])
    site.put("/maps/index.xml.gz", packed(sitemap(*maps, "/maps/none.xml", "https://example.org/map.xml", index=True)))
    off = ("https://example.org/listed", "http://10.1.2.3/listed", "ftp://example.org/listed", "not an address")
    listed = sitemap(*site.full(*only[:6], "/private/listed", "/docs/section-0/page-1"), *off, lastmod="2024-05-01")
    site.put("/maps/docs.xml", listed.replace(b"<loc>", b"<loc>\n  ").replace(b"</loc>", b"\n</loc>"))
    fated.fate("/private/listed", "refused", "robots", ())
    fated.fate("/maps/not%20an%20address", "failed", "not_found", (404,))  # read as one, beside the map
    fated.fate(off[0], "refused", "off_site", ())
    fated.fate(off[1], "refused", "private", ())
    # What lists itself is read once
    site.put("/maps/inner.xml", sitemap(*site.full("/maps/deep.xml.gz", "/maps/inner.xml"), index=True))
    site.put("/maps/deep.xml.gz", packed(sitemap(*site.full(*only[6:12]), lastmod="yesterday")))
    site.put("/maps/plain.txt", "\n".join(site.full(*only[12:18])), headers={"Content-Type": "text/plain"})
    site.put("/maps/torn.xml", sitemap(*site.full(*only[18:24])).partition(b"</urlset>")[0] + b"<url><loc>")
    entities = '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    site.put(
        "/maps/bomb.xml", f'<?xml version="1.0"?><!DOCTYPE x [{entities}]><urlset><url><loc>&b;</loc></url></urlset>'
    )
    site.put("/maps/cut.xml.gz", packed(sitemap(*site.full("/never")))[:40])


def _for_models(fated: FatedSite) -> None:
    names = [f"/models/{number}.md" for number in range(5)]
    shown = "".join(f"- [Text {name}]({fated.url(name)}): for models\n" for name in names)
    fated.site.put("/llms.txt", f"# The site\n\n{shown}", headers={"Content-Type": "text/plain; charset=utf-8"})
    for name in names:
        body = f"# Model text {name}\n\nWords of [{name}](/models/linked), and of nobody else.\n"
        fated.put("", name, body, "new", headers={"Content-Type": "text/markdown"}, etag=True)
    fated.page("", "/models/linked")


def _calendar(fated: FatedSite) -> None:
    """A month links to the next one, for ever; the depth limit ends it."""
    hub = fated.hub("/calendar/")
    last = DEPTH - 2
    fated.link(hub, "/calendar/0")
    for month in range(last + 1):
        fated.page("", f"/calendar/{month}", "", f"/calendar/{month + 1}")
    fated.site.page(f"/calendar/{last + 1}", prose("too far"))
    fated.fate(f"/calendar/{last + 1}", "refused", "depth", ())


def _closed_by_robots(fated: FatedSite) -> None:
    hub = fated.hub("/robots/")
    for path in ("/private/1", "/private/2?x=1", "/private/", "/tmp", "/tmpfile", "/list?sort=name", "/run.cgi"):
        fated.site.page(path, prose(path))
        fated.never(hub, path, "robots")
    for path in ("/private/open", "/list?order=name", "/run.cgi?x=1", "/Private/1"):
        fated.page(hub, path)
    fated.moved(hub, "/to-private", "/private/3")
    fated.fate("/private/3", "refused", "robots", ())


def _moved(fated: FatedSite) -> None:
    """Redirects that arrive."""
    hub = fated.hub("/moved/")
    for number, status in enumerate((301, 302, 303, 307, 308)):
        fated.moved(hub, f"/moved/to-page-{number}", f"/docs/section-1/page-{number}", status)
    fated.moved(hub, "/moved/chain-1", "/moved/chain-2", 301)
    fated.moved(hub, "/moved/chain-2", "chain-3", 302, target="/moved/chain-3")
    fated.moved(hub, "/moved/chain-3", "/moved/chain-end#part", 308, target="/moved/chain-end")
    fated.page(hub, "/moved/chain-end")
    fated.moved(hub, "/moved/slash", "/moved/slash/", 301)
    fated.page(hub, "/moved/slash/")
    fated.put(
        hub,
        "/moved/refresh",
        '<meta http-equiv="Refresh" content="0; URL=\'/moved/new\'"><p>Wait.',
        "redirected",
        "/moved/new",
    )
    fated.page(hub, "/moved/new")
    fated.page(hub, "/moved/later", head='<meta http-equiv="refresh" content="300; url=/moved/new">')
    fated.page(hub, "/moved/itself", head='<meta http-equiv="refresh" content="0">')
    fated.moved(hub, "/moved/missing", "/moved/nothing")
    fated.fate("/moved/nothing", "failed", "not_found", (404,))
    for number in range(1, 9):
        fated.site.moved(f"/moved/long-{number}", f"/moved/long-{number + 1}")
        fated.fate(f"/moved/long-{number}", "redirected", f"/moved/long-{number + 1}", (302,))
    fated.link(hub, "/moved/long-1")
    fated.fate("/moved/long-6", "failed", "too_many_redirects", (302,))
    fated.forget("/moved/long-7", "/moved/long-8")


def _circles(fated: FatedSite) -> None:
    """Redirects that never arrive, and those that lead to no address."""
    hub = fated.hub("/circles/")
    ways = {"self": "self", "a": "b", "b": "a", "into": "a", "one": "two", "two": "three", "three": "one", "bare": ""}
    for name, to in ways.items():
        fated.moved(hub, f"/circles/{name}", f"/circles/{to}" if to else "")
        fated.fate(f"/circles/{name}", "failed", "circle", (302,))
    for name, to in (("refresh-1", "refresh-2"), ("refresh-2", "refresh-1")):
        body = f'<meta http-equiv=refresh content="0;url={to}"><p>Wait.'
        fated.put(hub, f"/circles/{name}", body, "failed", "circle", etag=True)
    # Who keeps cookies gets in here, and who keeps none goes round.
    fated.moved(hub, "/circles/cookie", "/circles/cookie")
    fated.site.replies["/circles/cookie"].headers["Set-Cookie"] = "seen=1; Path=/"  # pyright: ignore
    fated.fate("/circles/cookie", "failed", "circle", (302,))
    for number, to in enumerate(("file:///etc/passwd", "javascript:alert(1)", "http://u:p@x.org/", "http://[x")):
        fated.moved(hub, f"/circles/no-address-{number}", to)
        fated.fate(f"/circles/no-address-{number}", "failed", "status", (302,))
    fated.put(hub, "/circles/no-location", b"", "failed", "status", status=302)


def _led_away(fated: FatedSite) -> None:
    """Redirects to other sites and to addresses of the inside."""
    hub = fated.hub("/away/")
    for number, (to, reason) in enumerate((
        (_METADATA, "private"), ("http://127.0.0.1:1/admin", "private"), ("http://localhost/", "private"),
        ("http://[::1]/", "private"), ("http://10.0.0.8/", "private"), ("https://example.org/home", "off_site"),
    )):  # fmt: skip
        fated.moved(hub, f"/away/{number}", to)
        fated.fate(to, "refused", reason, ())
    fated.moved(hub, "/away/picture", "/pictures/1.png")
    fated.fate("/pictures/1.png", "refused", "not_text", ())
    fated.put(hub, "/away/refresh", f'<meta http-equiv=refresh content="0;url={_METADATA}">', "redirected", _METADATA)


def _duplicates(fated: FatedSite) -> None:
    """One text under several addresses, with and without a word about it."""
    hub = fated.hub("/same/")
    fated.page(hub, "/same/first", prose("twins"), title="Twins")
    for path in ("/same/second", "/same/third/", "/same/first?view=print", "/same/FIRST"):
        fated.page(hub, path, prose("twins"), title="Twins")
        fated.fate(path, "duplicates", "/same/first")
    fated.page(hub, "/same/original")
    for path, href in (("/same/print", "/same/original?utm_medium=x#top"), ("/same/amp", "original")):
        fated.page(hub, path, prose("/same/original") + "<p>As printed.", head=f'<link rel="canonical" href="{href}">')
        fated.fate(path, "duplicates", "/same/original")
    fated.page(
        hub, "/same/header", prose("header"), headers={"Link": f"<{fated.url('/same/original')}>; rel=canonical"}
    )
    fated.fate("/same/header", "duplicates", "/same/original")
    fated.page(hub, "/same/relay", prose("relay"), head='<link rel=canonical href="/same/print">')
    fated.fate("/same/relay", "duplicates", "/same/print")
    alone = {
        "missing": "/same/none",
        "front": "/",
        "abroad": "https://example.org/x",
        "inside": "http://10.0.0.9/",
        "x": "y",
        "y": "x",
    }
    for name, href in alone.items():
        fated.page(hub, f"/same/{name}", prose(f"alone {name}"), head=f'<link rel=canonical href="{href}">')
        if name in ("missing", "x", "y"):
            fated.fate(f"/same/{name}", "new", asked=(200, 200))
    fated.fate("/same/none", "failed", "not_found", (404,))
    fated.page(hub, "/index.html", prose("the front page"), title="Page /")
    fated.fate("/index.html", "duplicates", "/")


def _sessions(fated: FatedSite) -> None:
    """Addresses that name a visit: those that can be told are stripped, the others are found to be duplicates."""
    hub = fated.hub("/visits/")
    fated.page(
        hub,
        "/visits/known",
        "",
        "/visits/known?PHPSESSID=0123456789abcdef0123456789abcdef",
        "/visits/known;jsessionid=A1",
    )
    fated.link(
        hub, "/visits/known?gclid=xyz&amp;utm_campaign=y", "/visits/known?jsessionid=00FF00FF00FF00FF00FF00FF00FF00FF"
    )
    fated.page(hub, "/visits/other?sid=12")
    for number in range(1, DEPTH):
        path = f"/visits/endless?visit={number}"
        fated.page("", path, prose("endless"), f"?visit={number + 1}", title="Endless")
        if number > 1:
            fated.fate(path, "duplicates", "/visits/endless?visit=1")
    fated.link(hub, "/visits/endless?visit=1")
    fated.fate(f"/visits/endless?visit={DEPTH}", "refused", "depth", ())


def _spellings(fated: FatedSite) -> None:
    """Links as they are really written."""
    hub = fated.hub("/links/")
    spellings = {
        "/links/upper": fated.url("/links/upper").replace("http:", "HTTP:"),
        "/links/dots": "/docs/../links/./dots",
        "/links/escaped~": "/links/%65scaped%7E",
        "/links/with%20space": " /links/with space ",
        "/links/caf%C3%A9": "/links/café",
        "/links/broken-line": "/links/bro\nken-line",
        "/links/backslash": "\\links\\backslash",
        "/links/?query=1&x=2": "?query=1&amp;x=2",
        "/links/scheme": fated.url("/links/scheme").removeprefix("http:"),
        "/links//double": fated.url("/links//double"),
    }
    for path, href in spellings.items():
        fated.page("", path)
        fated.link(hub, href)
    for path in ("/links/area", "/links/next", "/links/frame", "/links/below-base"):
        fated.page("", path)
    not_links = (
        "<!-- <a href='/links/comment'>x</a> --><script>'<a href=\"/links/script\">x</a>'</script>"
        "<img src='/links/image'><a name=here>x</a><a href>x</a>"
        "<a href='mailto:a@x.org'>x</a><a href='tel:1'>x</a><a href='javascript:go()'>x</a><a href='data:,x'>x</a>"
        "<a href='ftp://x.org/y'>x</a><a href='http://[x'>x</a><a href='http://x.org:99999/'>x</a>"
        "<a href='blob:x'>x</a>"
    )
    ways = "<map><area href=area></map><frameset><frame src=frame></frameset>" + not_links
    fated.page(hub, "/links/ways", prose("ways") + ways, head="<link rel=next href=next>")
    fated.page(hub, "/links/based", prose("based"), "below-base", head='<base href="javascript:x"><base href="/">')


def _refused_links(fated: FatedSite) -> None:
    """Links that nobody is asked about."""
    hub = fated.hub("/no/")
    inside = (
        "http://127.0.0.1:1/", "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://0/",
        "http://192.168.0.1/", "http://172.16.9.9/x", "http://100.64.0.1/", "http://169.254.169.254/", "http://[::1]:8080/",
        "http://[::ffff:10.0.0.1]/", "http://[fe80::1]/", "http://[fd00::1]/", "http://[64:ff9b::7f00:1]/", "http://router.local/",
        "http://metadata.google.internal/", "http://app.localhost/", "http://224.0.0.1/",
    )  # fmt: skip
    for href in inside:
        fated.never(hub, href, "private")
    for href in ("https://example.org/", "http://127.0.0.1.example.org/", "http://example.org:8080/x"):
        fated.never(hub, href, "off_site")
    for name in ("logo.svg", "film.MP4", "archive.tar.gz", "style.css?v=3", "app.js", "setup.exe"):
        fated.never(hub, f"/no/{name}", "not_text")
    fated.never(hub, "/no/x/x/x/x/x", "trap")
    fated.never(hub, "/no/" + "y" * 2100, "trap")
    fated.page(hub, "/no/follow", "", "/no/below", head='<meta name="ROBOTS" content="NOFOLLOW">')
    fated.fate("/no/below", "refused", "nofollow", ())
    fated.page(hub, "/no/index", "", "/no/under", head='<meta name="robots" content="noindex,follow">')
    fated.fate("/no/index", "refused", "noindex")
    fated.page("", "/no/under")
    for number, value in enumerate(("noindex", "none", "harry-mcp: noindex", "unavailable_after: 2020-01-01, noindex")):
        fated.page(hub, f"/no/header-{number}", headers={"X-Robots-Tag": value})
        fated.fate(f"/no/header-{number}", "refused", "noindex")
    fated.page(hub, "/no/other", headers={"X-Robots-Tag": "otherbot: noindex"})


def change(fated: FatedSite) -> None:
    """What happens to a site in a month, to be crawled after an ``again``."""
    site, section = fated.site, "/docs/section-2/"
    site.page(f"{section}page-3", prose("another text"), "page-4")
    fated.fate(f"{section}page-3", "changed")
    site.page(f"{section}page-12", prose("with more to read"), "/docs/added")
    fated.fate(f"{section}page-12", "changed")
    fated.page("", "/docs/added")
    answers: tuple[tuple[int, int, Place, str], ...] = (
        (4, 404, "gone", "not_found"),
        (5, 410, "gone", "gone"),
        (10, 500, "failed", "server_error"),
        (11, 403, "failed", "forbidden"),
    )
    for page, status, place, says in answers:
        site.put(f"{section}page-{page}", "x", status=status)
        asked = (status,) * (bad_answers.RETRIES + 1 if status == 500 else 1)
        fated.fate(f"{section}page-{page}", place, says, asked)
    site.moved(f"{section}page-6", "/docs/moved-here", 301)
    fated.fate(f"{section}page-6", "gone", "moved", (301,))
    fated.page("", "/docs/moved-here", prose(f"{section}page-6"), title=f"Page {section}page-6")
    site.page(f"{section}page-7", prose("no index"), head="<meta name=robots content=noindex>")
    fated.fate(f"{section}page-7", "gone", "noindex")
    site.page(f"{section}page-8", "<p>Sorry.", title="Page not found")
    fated.fate(f"{section}page-8", "gone", "soft_404")
    site.page(f"{section}page-9", "<form><input type=password></form><p>Who are you?", title="Log in")
    fated.fate(f"{section}page-9", "refused", "login")
    _lose_originals(fated)
    _close_a_section(fated)
    _mend_the_maps(fated)


def _lose_originals(fated: FatedSite) -> None:
    """What was a copy is the original now."""
    fated.site.page("/same/first", prose("no twin any more"), title="Twins")
    fated.fate("/same/first", "changed")
    fated.fate("/same/second", "new", asked=(304, 200))
    for path in ("/same/third/", "/same/first?view=print", "/same/FIRST"):
        fated.fate(path, "duplicates", "/same/second", (304, 200))
    fated.site.put("/same/original", "x", status=404)
    fated.fate("/same/original", "gone", "not_found", (404,))
    for path in ("/same/print", "/same/amp", "/same/header"):
        fated.fate(path, "new", asked=(304, 200))


def _close_a_section(fated: FatedSite) -> None:
    closed = "/docs/section-3/"
    fated.site.put("/robots.txt", ROBOTS.replace("Disallow: /tmp", f"Disallow: /tmp\nDisallow: {closed}"))
    for path in (closed, *(f"{closed}page-{page}" for page in range(PAGES))):
        fated.fate(path, "refused", "robots", ())


def _mend_the_maps(fated: FatedSite) -> None:
    """Every map can be read now, and one page is not in them any more."""
    site = fated.site
    site.put("/maps/index.xml.gz", packed(sitemap(*site.full(*GOOD_MAPS[1:]), index=True)))
    site.put(
        "/maps/docs.xml", sitemap(*site.full(*(f"/listed/{number}" for number in (1, 2, 3, 4, 5, *range(18, 24)))))
    )
    fated.fate("/listed/0", "gone", "unlinked", ())
    fated.forget("/private/listed", "/maps/not%20an%20address", "https://example.org/listed", "http://10.1.2.3/listed")
