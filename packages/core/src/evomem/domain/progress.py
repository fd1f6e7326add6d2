"""How far work that is done in steps has come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work has come.

    Attributes:
        done: Nodes that need no more work, those that never did included.
        total: Nodes in reach, purged ones included.
    """

    done: int
    total: int

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.done == self.total
