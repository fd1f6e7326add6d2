"""Opening a memory: the one place where the parts are chosen and put together."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from evomem.config.settings import load_settings
from evomem.cronista.base import Cronista, create_cronista
from evomem.domain.namespace import DEFAULT_NAMESPACE, parse_namespace
from evomem.domain.policy import Redaction
from evomem.engines.base import Engine
from evomem.errors import InvalidRequestError, MissingExtraError
from evomem.linker.base import Linker, create_linker
from evomem.redaction.base import create_detector
from evomem.service.context import LINKING_MODES, Context
from evomem.service.memory import Memory

if TYPE_CHECKING:
    from evomem.embed.base import Embedder
    from evomem.embed.checked import Embeddings
    from evomem.service.aio import Opening

PATH_VARIABLE = "EVOMEM_DB"
DEFAULT_PATH = "~/.evomem/evomem.db"


class OpenOptions(TypedDict, total=False):
    """Keyword arguments of `open`; `open_memory` says what each means."""

    namespace: str | Sequence[str]
    cronista: str | Cronista
    linking: str
    linker: str | Linker
    embedder: str | Embedder | Callable[..., Any] | None
    read_only: bool
    config: str | os.PathLike[str] | None


def find_path(given: object) -> tuple[str, str]:
    """Return the path of the store and where it came from: argument, `EVOMEM_DB`, or default."""
    if given is not None:
        if isinstance(given, bytes) or not isinstance(given, str | Path):
            message = f"{given!r} is no path of a store. Pass a text or a path object."
            raise InvalidRequestError(message, field="path")
        return str(given), "argument"
    if configured := os.environ.get(PATH_VARIABLE, "").strip():
        return configured, PATH_VARIABLE
    return DEFAULT_PATH, "default"


def open_memory(
    path: str | os.PathLike[str] | None = None,
    *,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    cronista: str | Cronista = "lite",
    linking: str = "suggest",
    linker: str | Linker = "heuristic",
    embedder: str | Embedder | Callable[..., Any] | None = "none",
    read_only: bool = False,
    config: str | os.PathLike[str] | None = None,
) -> Memory:
    """Open a memory; a missing store is made, with its parent folders.

    Args:
        path: A file (`~` and `$VAR` are expanded; relative to the working directory) or
            `:memory:`. None takes `$EVOMEM_DB`, else `~/.evomem/evomem.db`.
        namespace: The wall that the handle stays behind.
        cronista: What extracts narrative fields: a name, or an object that keeps the protocol.
        linking: `off`; `suggest` returns candidates and links nothing alone; `auto`.
        linker: What judges what a note replaces: a name, or an object.
        embedder: What turns texts into vectors, so that recall finds by meaning too: `none`,
            `minilm`, another name that `evomem.embed` knows, an object, or a named function.
        read_only: Open an existing store without ever writing to it.
        config: A YAML file with the policy. None takes `$EVOMEM_CONFIG`, else the defaults.

    Raises:
        EvoMemError: The store cannot be used; the message says why and what to do.
    """
    if linking not in LINKING_MODES:
        message = f"linking={linking!r} is none of {', '.join(LINKING_MODES)}."
        raise InvalidRequestError(message, field="linking")
    target, origin = find_path(path)
    bound = parse_namespace(namespace)
    policy = load_settings(config).policy
    unguarded = read_only or policy.redaction is Redaction.OFF
    detector = None if unguarded else create_detector()
    judge, note_taker = _linker(linker, linking), _cronista(cronista)
    embeddings = _embeddings(embedder)
    engine = _engine(target, read_only=read_only)
    context = Context(
        engine=engine,
        namespace=bound,
        cronista=note_taker,
        linker=judge,
        linking=linking,
        policy=policy,
        detector=detector,
        embeddings=embeddings,
    )
    return Memory(context, location=origin)


def _engine(target: str, *, read_only: bool) -> Engine:
    from evomem.engines.sqlite.engine import SqliteEngine  # noqa: PLC0415  only the engine used

    return SqliteEngine(target, read_only=read_only)


def _cronista(cronista: str | Cronista) -> Cronista:
    if isinstance(cronista, str):
        return create_cronista(cronista)
    if not callable(getattr(cronista, "extract", None)):
        message = f"{cronista!r} is no cronista: pass a name, or an object with name and extract."
        raise InvalidRequestError(message, field="cronista")
    return cronista


def _linker(linker: str | Linker, linking: str) -> Linker:
    if isinstance(linker, str):
        return create_linker(linker, auto=linking == "auto")
    if not callable(getattr(linker, "decide", None)):
        message = f"{linker!r} is no linker: pass a name, or an object with name, gate and decide."
        raise InvalidRequestError(message, field="linker")
    return linker


def _embeddings(given: str | Embedder | Callable[..., Any] | None) -> Embeddings | None:
    if given is None or given == "none":
        return None
    from evomem.embed.base import create_embedder  # noqa: PLC0415  loads for who embeds
    from evomem.embed.checked import Embeddings  # noqa: PLC0415

    if find_spec("numpy") is None:
        message = (
            "An embedder needs numpy, to compare vectors. Install it: "
            "pip install 'evomem-core[vectors]'"
        )
        raise MissingExtraError(message, extra="vectors")
    embedder = create_embedder(given)
    return None if embedder is None else Embeddings(embedder)


def aopen_memory(
    path: str | os.PathLike[str] | None = None, **options: Unpack[OpenOptions]
) -> Opening:
    """Open a memory for asyncio: `async with aopen(...) as memory`, or `await aopen(...)`.

    Args:
        path: As for `open`.
        **options: As for `open`.
    """
    from evomem.service.aio import Opening  # noqa: PLC0415  asyncio loads only for who uses it

    return Opening(functools.partial(open_memory, path, **options))
