"""What every handle has: where it stands, and how it is closed."""

from __future__ import annotations

from typing import Self

from evomem.domain.namespace import Namespace
from evomem.service.context import Context


class Handle:
    """A handle on a store, bound to a namespace."""

    def __init__(self, context: Context, *, location: str = "argument", owner: bool = True) -> None:
        self._context = context
        self._location = location
        self._owner = owner

    @property
    def namespace(self) -> Namespace:
        """The namespace that the handle is bound to."""
        return self._context.namespace

    @property
    def path(self) -> str:
        """Absolute path or address of the store."""
        return self._context.engine.location

    def close(self) -> None:
        """Release the store; a handle from `within` leaves it open."""
        if not self._owner:
            return
        if self._context.embeddings is not None:
            self._context.embeddings.close()
        self._context.engine.close()

    def __enter__(self) -> Self:
        """Return the handle."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the handle."""
        self.close()

    def __repr__(self) -> str:
        """Name the store and the namespace."""
        return f"{type(self).__name__}({self.path!r}, namespace={self.namespace!r})"
