"""The port of redaction: a text in, the places of its secrets out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from evomem.errors import MissingExtraError


class Secret(NamedTuple):
    """A secret in a text: where it starts and ends in code points, and what gave it away."""

    start: int
    end: int
    rule: str


class Detector(Protocol):
    """What every detector keeps to.

    - The secrets come sorted, and no two overlap.
    - The same text has the same secrets, always; no text makes it fail.
    - It asks no network, keeps no text, and may be called from several threads at once.
    - Its time grows linearly with the text; a text has up to 1 MiB.
    """

    def find(self, text: str) -> list[Secret]:
        """Return where the secrets of a text are."""
        ...


def create_detector() -> Detector:
    """Return the detector of the extra `redaction`; its module is imported only now.

    Raises:
        MissingExtraError: The extra is not installed.
    """
    try:
        from evomem.redaction.scanner import SecretScanner  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError as error:
        message = "Redaction needs detect-secrets. Install it: pip install 'evomem-core[redaction]'"
        raise MissingExtraError(message, extra="redaction") from error
    return SecretScanner()


def redact(text: str, secrets: Sequence[Secret]) -> str:
    """Return the text with `[redacted: RULE]` in the place of each secret, as `find` gave them."""
    parts, done = [], 0
    for start, end, rule in secrets:
        parts += [text[done:start], f"[redacted: {rule}]"]
        done = end
    return "".join([*parts, text[done:]])


def merge(found: Iterable[Secret]) -> list[Secret]:
    """Sort secrets and join those that overlap, under the rule of the one that came first."""
    merged: list[tuple[int, Secret]] = []
    for rank, secret in sorted(enumerate(found), key=lambda each: each[1].start):
        if merged and secret.start < merged[-1][1].end:
            best, last = merged[-1]
            rule = secret.rule if rank < best else last.rule
            joined = Secret(last.start, max(last.end, secret.end), rule)
            merged[-1] = (min(rank, best), joined)
        else:
            merged.append((rank, secret))
    return [secret for _, secret in merged]
