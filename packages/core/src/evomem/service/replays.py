"""Repeated calls: what is kept under an idempotency key, and whether it fits."""

from __future__ import annotations

import hashlib

from evomem.domain.patch import Replay
from evomem.domain.plain import to_plain, to_sorted_json
from evomem.errors import IdempotencyConflictError
from evomem.service.context import Context


def payload_digest(request: object) -> bytes:
    """Digest what a caller asked for."""
    return hashlib.sha256(to_sorted_json(to_plain(request)).encode()).digest()


def find_replay(context: Context, key: str | None, payload: bytes | None) -> Replay | None:
    """Return what is kept under the key; None without a key, or if it is new.

    Raises:
        IdempotencyConflictError: The key was used for another request.
    """
    if key is None:
        return None
    with context.engine.read() as reader:
        kept = reader.replay(context.namespace, key)
    if kept and kept.payload_digest != payload:
        message = (
            f"The idempotency key {key!r} was used for another request (patch {kept.patch_id}). "
            "Use a new key for a new request."
        )
        raise IdempotencyConflictError(message, key=key, patch_id=kept.patch_id)
    return kept
