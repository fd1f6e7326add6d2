"""Secrets by the patterns of detect-secrets.

Its detectors report values without places, and for several tokens no more than the prefix, so
their patterns are applied here. That reads no setting of the package and verifies nothing. Left
out are guesses by entropy, which take hashes and ids for secrets; public IP addresses; and the
detectors of IBM and SoftLayer, for which a mere blank assigns and whose time is cubic in blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from detect_secrets.plugins import keyword
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from evomem.redaction.base import Secret, merge
from evomem.redaction.formats import TOKENS, json_web_tokens, private_keys

DETECTORS: tuple[RegexBasedDetector, ...] = (
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    MailchimpDetector(),
    PypiTokenDetector(),
    SendGridDetector(),
    SlackDetector(),
    SquareOAuthDetector(),
    StripeDetector(),
    TwilioKeyDetector(),
)
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    *((each.secret_type, pattern) for each in DETECTORS for pattern in each.denylist),
    *TOKENS,
)
# Tokens grow longer over the years; what follows without a gap belongs to them. Bounded, as a
# text may be one long run of tokens.
TAIL = re.compile(r"[\w-]{0,250}+", re.ASCII)

KEYWORD_RULE = keyword.KeywordDetector.secret_type
KEYWORD = re.compile(rf"(?:{'|'.join(keyword.DENYLIST)})\w*+", re.IGNORECASE)
# Each begins with a keyword and demands quotes: in prose a colon after "secret" means little.
QUOTED = tuple(
    (pattern, group)
    for pattern, group in keyword.QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP.items()
    if pattern is not keyword.PRECEDED_BY_EQUAL_COMPARISON_SIGNS_QUOTES_REQUIRED_REGEX
)
# How far a value is looked for behind its keyword; the patterns are quadratic in it.
KEYWORD_REACH = 300
# A line that is nothing but an assignment, as in an `.env` file, needs no quotes around a value
# with a digit.
ASSIGNMENT = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:export[ \t]+)?[\w.-]*"
    rf"(?:access_?key|(?:access|auth)_?token|{'|'.join(keyword.DENYLIST)})"
    r"[ \t]*[:=][ \t]*((?=\S*\d)\w\S{5,})[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)


class SecretScanner:
    """A detector of well-known token formats, private keys and assigned passwords."""

    def find(self, text: str) -> list[Secret]:
        """Return where the secrets of a text are."""
        return merge(
            [
                *_named("Private Key", private_keys(text)),
                *_named("JSON Web Token", json_web_tokens(text)),
                *_tokens(text),
                *_named(KEYWORD_RULE, _assigned(text)),
            ]
        )


def _named(rule: str, spans: Iterable[tuple[int, int]]) -> Iterator[Secret]:
    return (Secret(start, end, rule) for start, end in spans)


def _tokens(text: str) -> Iterator[Secret]:
    for rule, pattern in PATTERNS:
        for match in pattern.finditer(text):
            yield Secret(*_span(match), rule)


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Return from the first group, where a pattern has one, to the end of the token."""
    start = max(match.start(), match.start(1) if match.re.groups else 0)
    end = start + len(match.string[start : match.end()].rstrip("\"'@"))
    tail = TAIL.match(match.string, end)
    return start, tail.end() if tail else end


def _assigned(text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span(1) for match in ASSIGNMENT.finditer(text))
    for found in KEYWORD.finditer(text):
        start, reach = found.start(), found.start() + KEYWORD_REACH
        line_end = text.find("\n", start, reach)
        for pattern, group in QUOTED:
            if match := pattern.match(text, start, reach if line_end < 0 else line_end):
                yield match.span(group)
