"""Embedders of the caller: an object that keeps the protocol, or a function with a name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evomem.errors import InvalidRequestError, shown

if TYPE_CHECKING:
    from evomem.embed.base import Embedder, Vectors

MAX_NAME_CHARS = 200


class FunctionEmbedder:
    """A function from a list of texts to a list of vectors, under a name."""

    def __init__(self, function: Callable[[list[str]], Vectors], name: str) -> None:
        self._function = function
        self.name = name

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:  # noqa: ARG002 (the port's)
        """Return one vector per text."""
        return self._function(list(texts))


def own_embedder(given: Any) -> Embedder:  # noqa: ANN401 (what a caller passes)
    """Return an object as it is and a function wrapped.

    Raises:
        InvalidRequestError: It is neither, or nothing says which model it is.
    """
    embed = getattr(given, "embed", None)
    function = embed if callable(embed) else given
    if isinstance(given, type) or not callable(function):
        message = (
            f"{shown(given)} is no embedder: pass a name, an object with name and embed, or a "
            "function from a list of texts to a list of vectors."
        )
        raise InvalidRequestError(message, field="embedder")
    if inspect.iscoroutinefunction(function):
        message = f"{shown(given)} is asynchronous; an embedder is called from a thread, without."
        raise InvalidRequestError(message, field="embedder")
    if function is embed:
        _checked_name(given, given.name if hasattr(given, "name") else None)
        return given  # type: ignore[no-any-return]
    return FunctionEmbedder(given, _checked_name(given, getattr(given, "name", _qualified(given))))


def _qualified(function: Callable[..., Any]) -> str | None:
    """Return where a function is defined; None where that does not tell two models apart."""
    name = getattr(function, "__qualname__", None)
    if name is None or "<lambda>" in name or inspect.ismethod(function):
        return None
    return f"{function.__module__}.{name}"


def _checked_name(given: object, name: object) -> str:
    if isinstance(name, str) and name.strip() and len(name) <= MAX_NAME_CHARS:
        return name
    message = (
        f"The embedder {shown(given)} needs a name of 1 to {MAX_NAME_CHARS} characters: vectors "
        "are stored under it, and those of different names are never compared. Name model and "
        "version in a text attribute: def embed(texts): ...; embed.name = 'my-model/1'"
    )
    raise InvalidRequestError(message, field="embedder")
