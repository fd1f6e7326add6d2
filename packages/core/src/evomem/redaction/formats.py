"""Formats that detect-secrets 1.5 does not know, or reads too loosely for prose.

The lengths of tokens are those of the rules of gitleaks 8 (`config/gitleaks.toml`). Every pattern
takes time linear in the text, whatever the text.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator

# ASCII throughout: a token may stand between letters of a script that writes no blanks.
TOKENS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (rule, re.compile(pattern, re.ASCII))
    for rule, pattern in (
        ("Anthropic API Key", r"\bsk-ant-[a-z]+\d+-[\w-]{40,}"),
        ("Artifactory Credentials", r"\bAKCp[A-Za-z0-9]{69}"),
        # RFC 3986 allows more in a password than detect-secrets does, and Redis has no user name.
        ("Basic Auth Credentials", r"://[^\s/?#@:\"'<>]*+:([^\s/?#@\"'<>]++)@"),
        ("GitHub Token", r"\bgithub_pat_\w{82}"),
        (
            "GitLab Token",
            r"\b(?:gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-|GR1348941)[\w-]{20,}"
            r"(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9}\b)?",
        ),
        ("Google API Key", r"\bAIza[\w-]{35}"),
        ("Hugging Face Token", r"\bhf_[A-Za-z]{34}"),
        ("NPM tokens", r"\bnpm_[A-Za-z0-9]{36}|(?<=:_authToken=)[\w-]{36,}"),
        ("OpenAI Token", r"(?<![\w-])sk-[\w-]*?T3BlbkFJ[\w-]{20,}"),
        ("Telegram Bot Token", r"\b\d{8,10}:AA[\w-]{33}(?![\w-])"),
    )
)

JWT = re.compile(r"(?<![\w-])(eyJ[\w-]{8,}+)=*\.[\w-]+=*(?:\.[\w-]*){0,3}", re.ASCII)
MAX_JWT_HEADER = 4096

# PuTTY's files have no END line; their last line is the MAC.
KEY_MARK = re.compile(
    r"(?P<begin>-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|PuTTY-User-Key-File-\d)"
    r"|-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|Private-MAC: ?[0-9a-f]*"
)
# The lines of a key whose END is lost; in JSON its line ends are written out.
KEY_BODY = re.compile(r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*")


def json_web_tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the text has JSON web tokens, signature included."""
    for match in JWT.finditer(text):
        if _names_an_algorithm(match[1]):
            yield match.span()


def _names_an_algorithm(header: str) -> bool:
    """Tell whether it is the header of a token: RFC 7515, 4.1.1 asks for `alg` in each."""
    if len(header) > MAX_JWT_HEADER:
        return False
    try:
        decoded = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(decoded, dict) and "alg" in decoded


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the text has private keys, each whole: from its BEGIN to its END."""
    marks = list(KEY_MARK.finditer(text))
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        if not mark["begin"]:
            continue
        if after is not None and not after["begin"]:
            yield mark.start(), after.end()
        else:
            body = KEY_BODY.match(text, mark.end())
            yield mark.start(), body.end() if body else mark.end()
