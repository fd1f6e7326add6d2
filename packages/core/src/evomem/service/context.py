"""What every use case needs, put together once by whoever opens the memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from evomem.cronista.base import Cronista
from evomem.domain.identifiers import PREFIX_CHARS, describe
from evomem.domain.namespace import Namespace, Reach
from evomem.domain.patch import Patch, Receipt
from evomem.domain.policy import Policy
from evomem.engines.base import Engine, Reader, StaleError
from evomem.errors import EngineBusyError, InvalidRequestError, NotFoundError
from evomem.linker.base import Linker
from evomem.redaction.base import Detector
from evomem.service.embedding import RecentVectors, commit_with_vectors

if TYPE_CHECKING:
    from evomem.embed.checked import Embeddings

LINKING_MODES = ("off", "suggest", "auto")

# Every failed attempt means that another writer got through, so this many in a row is a queue
# that no caller wants to wait in.
_ATTEMPTS = 1000

T = TypeVar("T")


def system_clock() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of an open memory.

    Attributes:
        engine: The store.
        namespace: The wall: nothing above or beside it is visible.
        cronista: Extracts narrative fields.
        linker: Judges what a note replaces.
        linking: `off`, `suggest` (never links alone) or `auto`.
        policy: What may be written, by whom and on what evidence.
        detector: Finds secrets; None if the policy does not ask for it.
        embeddings: Turns texts into vectors; None if the memory searches by words alone.
        clock: Tells system time.
        recent_vectors: What the embedder answered lately.
    """

    engine: Engine
    namespace: Namespace
    cronista: Cronista
    linker: Linker
    linking: str
    policy: Policy = field(default_factory=Policy)
    detector: Detector | None = None
    embeddings: Embeddings | None = None
    clock: Callable[[], datetime] = system_clock
    recent_vectors: RecentVectors = field(default_factory=RecentVectors)

    def time(self, reader: Reader) -> datetime:
        """Return the present time, never before the latest commit seen.

        Several machines write one store: a clock that lags must not take for scheduled what
        another has just put in force.
        """
        return max(self.clock(), reader.last_commit(self.namespace).recorded_at)

    def view(
        self, reader: Reader, as_of: datetime | None, known_at: datetime | None
    ) -> tuple[Reader, datetime]:
        """Return the reader that knows what was known at `known_at`, and the world time to ask of.

        Without `as_of` that is the time of the knowledge: then the answer is the one of then.
        """
        if known_at is None:
            return reader, as_of or self.time(reader)
        return reader.known_by(known_at), as_of or known_at

    def commit(self, patch: Patch) -> Receipt:
        """Write a patch, if the policy lists what it does, with the vectors of its nodes.

        Raises:
            PolicyDeniedError: It does not.
            StaleError: The plan is outdated; nothing was written.
        """
        self.policy.check_operations(step.op for step in patch.operations)
        if self.embeddings is None:
            return self.engine.commit(patch)
        return commit_with_vectors(self, self.embeddings, patch)

    @property
    def reach(self) -> Reach:
        """Return what a write sees: the namespace alone."""
        return Reach(self.namespace)


def until_current(attempt: Callable[[int], T]) -> T:
    """Repeat an attempt, which loads facts, plans and commits, until no writer comes between.

    Args:
        attempt: Gets the number of attempts before it.

    Raises:
        EngineBusyError: Others were first too often.
    """
    for number in range(_ATTEMPTS):
        try:
            return attempt(number)
        except StaleError:
            continue
    message = "Other writers kept changing the same memories. Retry in a moment."
    raise EngineBusyError(message)


def unknown_node(node_id: str, *, writing: bool = False) -> NotFoundError:
    """Return the error for an id that names no node here."""
    kind = describe(node_id)
    hint = f" It has the shape of {kind} id." if kind and kind != "a node" else ""
    message = (
        f"{node_id!r} is no node of this namespace.{hint} Use an id that remember, recall or list "
        "showed."
    )
    if writing:
        message += " A write takes whole ids only; nothing was written."
    return NotFoundError(message, id=node_id)


def expand_id(reader: Reader, reach: Reach, given: str) -> str:
    """Return the whole id of a node for its id or an unambiguous prefix.

    Raises:
        NotFoundError: No node begins so.
        InvalidRequestError: Several do.
    """
    for node_id in (given, whole_id(reader, reach, given)):
        if reader.records(reach, [node_id]):
            return node_id
    if len(given) < PREFIX_CHARS:
        message = f"{given!r} is too short: write at least {PREFIX_CHARS} characters of the id."
        raise NotFoundError(message, id=given)
    raise unknown_node(given)


def whole_id(reader: Reader, reach: Reach, given: str) -> str:
    """Return the id of any kind that a prefix of six characters or more begins, else the prefix.

    Raises:
        InvalidRequestError: It begins several.
    """
    found = reader.expand(reach, given, 5) if len(given) >= PREFIX_CHARS else []
    if len(found) > 1 and given not in found:
        message = f"{given!r} begins several ids: {', '.join(found)}. Write more of it."
        raise InvalidRequestError(message, id=given, matches=found)
    return found[0] if len(found) == 1 else given
