"""VER-6: only the hosts of the list and their subdomains, however an address is written."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import httpx
import pytest
import yarl
from hypothesis import example, given
from hypothesis import strategies as st

from harry_mcp.domain.hosts import AllowList, Refusal, plain_address

pytestmark = pytest.mark.promise("VER-6")

LISTED = AllowList.of(["HubSpot.com", " *.hubapi.com. ", "bücher.example", "docs.python.org"])


def test_a_list_is_read_as_it_was_meant_and_what_is_no_host_lets_nothing_through() -> None:
    assert LISTED.hosts == ("docs.python.org", "hubapi.com", "hubspot.com", "xn--bcher-kva.example")
    odd = [
        "https://hubspot.com",
        "com",
        "localhost",
        "127.0.0.1",
        "0x7f.1",
        "",
        "*",
        "a b.com",
        "ex_ample.com",
        "-a.com",
    ]
    assert AllowList.of(odd) == AllowList((), tuple(odd))
    assert not AllowList.of(odd)
    # A host under another one of the list says nothing new.
    assert AllowList.of(["a.com", "docs.a.com", "ba.com"]).hosts == ("a.com", "ba.com")


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://hubspot.com", "https://hubspot.com/"),
        ("http://hubspot.com/", "http://hubspot.com/"),
        ("HTTPS://Knowledge.HubSpot.COM/Forms?a=B#c", "https://knowledge.hubspot.com/Forms?a=B#c"),
        ("https://a.b.hubapi.com/x", "https://a.b.hubapi.com/x"),
        ("https://hubspot.com:443/x", "https://hubspot.com/x"),
        ("http://hubspot.com:80?q=1", "http://hubspot.com/?q=1"),
        ("https://bücher.example/ü?q=ß", "https://xn--bcher-kva.example/%C3%BC?q=%C3%9F"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://docs.python.org/3/library/re.html#re.sub", "https://docs.python.org/3/library/re.html#re.sub"),
        ("https://hubspot.com/a%20b%2Fc", "https://hubspot.com/a%20b%2Fc"),
        ("https://hubspot.com/wiki/Help:Contents", "https://hubspot.com/wiki/Help:Contents"),
        ("https://hubspot.com/docs//v1.2/x", "https://hubspot.com/docs//v1.2/x"),
        ("https://hubspot.com/share?u=https://hubapi.com/x", "https://hubspot.com/share?u=https://hubapi.com/x"),
        ("https://hubspot.com/q?a=1:2&t=10:30", "https://hubspot.com/q?a=1:2&t=10:30"),
        ("https://hubspot.com/100%", "https://hubspot.com/100%"),
    ],
)
def test_plain_addresses_on_the_list_are_let_through(address: str, plain: str) -> None:
    assert LISTED.refusal(address) is None
    assert plain_address(address) == plain
    assert plain_address(plain) == plain


@pytest.mark.parametrize(
    ("address", "refusal"),
    [
        # Other hosts that look like one of the list
        ("https://hubspot.com.evil.example/", Refusal.NOT_LISTED),
        ("https://evil-hubspot.com/", Refusal.NOT_LISTED),
        ("https://evilhubspot.com/", Refusal.NOT_LISTED),
        ("https://hubspot.co/", Refusal.NOT_LISTED),
        ("https://hubspot.community/", Refusal.NOT_LISTED),
        ("https://python.org/", Refusal.NOT_LISTED),
        ("https://evil.example/hubspot.com", Refusal.NOT_LISTED),
        ("https://evil.example/?hubspot.com", Refusal.NOT_LISTED),
        ("https://evil.example#hubspot.com", Refusal.NOT_LISTED),
        # Other letters
        ("https://hubѕpot.com/", Refusal.LOOK_ALIKE),  # a Cyrillic s
        ("https://xn--hubpot-2jg.com/", Refusal.LOOK_ALIKE),
        ("https://ｈubspot.com/", Refusal.LOOK_ALIKE),
        ("https://hubspot。com/", Refusal.LOOK_ALIKE),
        ("https://hubspot．com/", Refusal.LOOK_ALIKE),
        ("https://hubspot｡com/", Refusal.LOOK_ALIKE),
        ("https://evil.example／.hubspot.com/", Refusal.LOOK_ALIKE),
        ("https://hubspot․com/", Refusal.LOOK_ALIKE),
        ("https://ⓗubspot.com/", Refusal.LOOK_ALIKE),
        ("https://ℎubspot.com/", Refusal.LOOK_ALIKE),
        ("https://hub\u200bspot.com/", Refusal.UNREADABLE),
        ("https://hub\u00adspot.com/", Refusal.UNREADABLE),
        ("https://\u202ehubspot.com/", Refusal.UNREADABLE),
        ("https://hubspot.com\u0000.evil.example/", Refusal.UNREADABLE),
        # What stands before or behind the host
        ("https://hubspot.com@evil.example/", Refusal.USER_INFO),
        ("https://hubspot.com:443@evil.example/", Refusal.USER_INFO),
        ("https://evil@hubspot.com/", Refusal.USER_INFO),
        ("https://@hubspot.com/", Refusal.USER_INFO),
        ("https://hubspot.com:8443/", Refusal.PORT),
        ("https://hubspot.com:80/", Refusal.PORT),
        ("https://hubspot.com:/", Refusal.PORT),
        ("https://hubspot.com:0443/", Refusal.PORT),
        ("https://hubspot.com:443:80/", Refusal.PORT),
        ("https://hubspot.com./", Refusal.UNREADABLE),
        ("https://hubspot.com../", Refusal.UNREADABLE),
        ("https://.hubspot.com/", Refusal.UNREADABLE),
        ("https://a..hubspot.com/", Refusal.UNREADABLE),
        ("https://-a.hubspot.com/", Refusal.UNREADABLE),
        ("https://a_b.hubspot.com/", Refusal.UNREADABLE),
        ("https:///hubspot.com/", Refusal.UNREADABLE),
        # Escapes, back slashes, blanks
        ("https://evil.example%2f.hubspot.com/", Refusal.ENCODED_HOST),
        ("https://hubspot%2ecom/", Refusal.ENCODED_HOST),
        ("https://hubspot.com%00.evil.example/", Refusal.ENCODED_HOST),
        ("https://evil.example\\.hubspot.com/", Refusal.UNREADABLE),
        ("https://evil.example\\@hubspot.com/", Refusal.UNREADABLE),
        ("https:\\\\evil.example", Refusal.UNREADABLE),
        ("https://hubspot.com /", Refusal.UNREADABLE),
        (" https://hubspot.com/", Refusal.UNREADABLE),
        ("https://hub\tspot.com/", Refusal.UNREADABLE),
        ("https://hubspot.com/a\r\nHost: evil.example", Refusal.UNREADABLE),
        ("https://hubspot.com/%0d%0aSet-Cookie:x", Refusal.UNREADABLE),
        ("https://hubspot.com/%2500", Refusal.UNREADABLE),
        ('https://hubspot.com/"><script>', Refusal.UNREADABLE),
        ("https://hubspot.com/" + "a" * 2000, Refusal.UNREADABLE),
        # No names
        ("https://127.0.0.1/", Refusal.IP_ADDRESS),
        ("https://2130706433.0/", Refusal.IP_ADDRESS),
        ("https://0x7f.0x1/", Refusal.IP_ADDRESS),
        ("https://hubspot.com.0x7f/", Refusal.IP_ADDRESS),
        ("https://[::1]/", Refusal.IP_ADDRESS),
        ("https://[::ffff:127.0.0.1]/", Refusal.IP_ADDRESS),
        ("https://localhost/", Refusal.UNREADABLE),
        # Other schemes, or none
        ("ftp://hubspot.com/", Refusal.SCHEME),
        ("javascript:alert(1)//hubspot.com/", Refusal.SCHEME),
        ("data:text/html,hubspot.com", Refusal.SCHEME),
        ("file:///hubspot.com", Refusal.SCHEME),
        ("https:hubspot.com", Refusal.SCHEME),
        ("https:/hubspot.com", Refusal.SCHEME),
        ("//hubspot.com/", Refusal.UNREADABLE),
        ("hubspot.com/", Refusal.UNREADABLE),
        ("", Refusal.UNREADABLE),
        # Addresses of the list that name another one, which they may lead to
        ("https://hubspot.com/r?u=https://evil.example/", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?u=https%3A%2F%2Fevil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?u=https%253A%252F%252Fevil.example", Refusal.CARRIES_ADDRESS),
        (
            "https://hubspot.com/r?u=" + quote(quote(quote(quote("https://hubspot.com"))), safe=""),
            Refusal.CARRIES_ADDRESS,
        ),
        ("https://hubspot.com/r?u=HTTP:/evil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?u=//evil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?u=/%5Cevil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?u=%5C%5Cevil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?u=https://hubspot.com@evil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?u=https://hubspot.com.evil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com//evil.example/x", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/out/https://evil.example/x", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/out/https:/evil.example/x", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/#https://evil.example", Refusal.CARRIES_ADDRESS),
        ("https://hubspot.com/r?a=1&u=gopher://evil.example", Refusal.CARRIES_ADDRESS),
    ],
)
def test_what_only_looks_like_the_list_is_refused_and_says_why(address: str, refusal: Refusal) -> None:
    assert LISTED.refusal(address) is refusal


def test_an_empty_list_lets_nothing_through() -> None:
    assert AllowList.of([]).refusal("https://hubspot.com/") is Refusal.NOT_LISTED


def test_what_is_refused_by_every_list_has_no_plain_form() -> None:
    with pytest.raises(ValueError, match="user name"):
        plain_address("https://hubspot.com@evil.example/")


_PIECES = (
    "hubspot.com evil.example www. https: http: // / \\ @ : 443 80 ? # %2f %40 %2e . 。 ． ｈ ѕ xn-- - [ ] ::1 127.1 "
    "0x7f = & ; u= a"
)
PIECES = st.sampled_from([*_PIECES.split(), " ", "\t", "\u200b", "\u00ad"])
ADDRESSES = st.one_of(
    st.lists(PIECES, min_size=1, max_size=9).map(lambda pieces: "https://" + "".join(pieces)),
    st.lists(PIECES, min_size=1, max_size=9).map("".join),
    st.text(max_size=30).map(lambda text: f"https://hubspot.com{text}"),
    st.text(max_size=30).map(lambda text: f"https://{text}hubspot.com/"),
    st.text(max_size=30).map(lambda text: f"https://{text}.hubspot.com{text}/"),
)


@given(ADDRESSES)
@example("https://www.hubspot.com:443/x?u=a@b#c")
def test_whatever_is_let_through_has_a_listed_host_for_every_parser(address: str) -> None:
    if LISTED.refusal(address) is not None:
        return
    plain = plain_address(address)
    for form in (address, plain):
        seen = {urlsplit(form).hostname, httpx.URL(form).host.encode("idna").decode(), yarl.URL(form).raw_host}
        for host in seen:
            assert host is not None
            assert LISTED.admits(host.lower().encode("idna").decode())
    assert plain.isascii()
    assert LISTED.refusal(plain) is None
    assert urlsplit(plain).username is None
    assert urlsplit(plain).port is None


@given(st.lists(st.sampled_from("abc-é。.1x"), max_size=12).map("".join))
def test_a_host_is_admitted_only_with_a_dot_before_the_listed_one(start: str) -> None:
    address = f"https://{start}hubspot.com/"
    if LISTED.refusal(address) is None:
        assert start == "" or start.endswith(".")
