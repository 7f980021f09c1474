"""E-mail addresses of people. Addresses of a function or of an example stay."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from harry_mcp.stages.correct.spans import Kind, Span

_EMAIL = regex.compile(
    r"(?<![\p{L}\p{N}._%+/@-])(?P<local>[\p{L}\p{N}][\p{L}\p{N}._%+'-]{0,63})@"
    r"(?P<domain>(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59}))"
    r"(?![\p{L}\p{N}@-])",
    regex.IGNORECASE,
)
_SPELLED_EMAIL = regex.compile(
    r"(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{2,64}\s?[\[({<]\s?at\s?[\])}>]\s?[\p{L}\p{N}-]{2,63}"
    r"(?:\s?[\[({<]\s?dot\s?[\])}>]\s?|\.)\p{L}{2,24}(?![\p{L}\p{N}-])",
    regex.IGNORECASE,
)
# RFC 2606 and RFC 6761 set these aside for examples; the others are what documentation writes for "your own".
_EXAMPLE_DOMAIN = regex.compile(
    r"(?:^|\.)(?:example(?:\.(?:com|org|net|edu|co\.\p{L}+|\p{L}{2}))?|test|invalid|localhost|local)$"
    r"|^(?:(?:your|my|the|our|some|any)[\p{L}-]*|domain|company|acme|site|website|mysite|host|hostname|server|email|mail|foo"
    r"|bar|yoursite|organi[sz]ation|org|business|customer|client)\.\p{L}{2,}(?:\.\p{L}{2})?$",
    regex.IGNORECASE,
)
# A mailbox of a function is no person's, and product text is full of them.
_FUNCTION = regex.compile(
    r"^(?:support|help|helpdesk|info|sales|contact|hello|hi|team|admin|administrator|webmaster|postmaster|hostmaster|abuse"
    r"|noc|security|privacy|legal|dpo|gdpr|billing|invoices?|accounts?|payments?|finance|press|media|marketing|jobs|careers"
    r"|hr|office|feedback|services?|customerservice|customer-?(?:support|care|success)|(?:no|do-?not)-?reply|notifications?"
    r"|alerts?|mailer-daemon|root|git|news(?:letter)?|(?:un)?subscribe|partners?|community|api|dev|developers?|ops|it|test"
    r"|user(?:name)?\d?|you|old|new|foo|bar|baz|your[._-]?\w*|name|someone|somebody|me|email|example|recipient|sender|from"
    r"|to|first(?:name)?[._-]?last(?:name)?)(?:\+[\p{L}\p{N}._-]*)?$",
    regex.IGNORECASE,
)


def emails(text: str) -> Iterator[Span]:
    for match in _EMAIL.finditer(text):
        if not _FUNCTION.match(match["local"]) and not _EXAMPLE_DOMAIN.search(match["domain"]):
            yield Span(match.start(), match.end(), Kind.EMAIL)
    for match in _SPELLED_EMAIL.finditer(text):
        yield Span(match.start(), match.end(), Kind.EMAIL)
