"""Random histories, played through the service as callers would make them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from tests.conformance.builders import Clock

from evomem import EvoMemError, Memory
from evomem.domain.edge import SUCCESSION
from evomem.domain.lineage import Lineage
from evomem.domain.namespace import Reach
from evomem.engines.base import Engine

_INDEX = st.integers(0, 11)
_DAYS = st.none() | st.integers(-4, 4)
_REMEMBER = st.fixed_dictionaries(
    {
        "step": st.just("remember"),
        "old": st.lists(_INDEX, max_size=2),
        "kind": st.sampled_from(["supersedes", "supersedes", "refines"]),
        "begins": _DAYS,
        "lasts": st.none() | st.none() | st.integers(1, 3),
    }
)
STEPS = st.lists(
    _REMEMBER
    | _REMEMBER
    | st.fixed_dictionaries({"step": st.just("split"), "old": _INDEX, "begins": _DAYS})
    | st.fixed_dictionaries({"step": st.just("link"), "new": _INDEX, "old": _INDEX})
    | st.fixed_dictionaries({"step": st.just("unlink"), "edge": _INDEX})
    | st.fixed_dictionaries({"step": st.just("forget"), "node": _INDEX, "purge": st.booleans()}),
    min_size=1,
    max_size=9,
)


def play(
    engine: Engine, memory: Memory, clock: Clock, steps: Sequence[dict[str, Any]]
) -> list[str]:
    """Carry out the steps, those refused left out, and return the nodes made."""
    player = _Player(engine, memory, clock)
    for step in steps:
        clock.advance(hours=1)
        try:
            getattr(player, step["step"])(step)
        except EvoMemError:
            continue
    return player.ids


class _Player:
    def __init__(self, engine: Engine, memory: Memory, clock: Clock) -> None:
        self.engine, self.memory, self.clock = engine, memory, clock
        self.ids: list[str] = []

    def remember(self, step: dict[str, Any]) -> None:
        options: dict[str, Any] = {**self._times(step), **_said(step)}
        old = [self._node(index) for index in step["old"] if self.ids]
        if old:
            options[step["kind"]] = old
        text = f"statement {len(self.ids)}"
        self.ids.append(self.memory.remember(text, **options).node.id)

    def split(self, step: dict[str, Any]) -> None:
        old = {"supersedes": self._node(step["old"])} if self.ids else {}
        given = {**old, **_said(step)}
        notes = [{"text": f"part {len(self.ids)} {side}", **given} for side in "ab"]
        made = self.memory.remember_many([{**notes[0], **self._times(step)}, notes[1]])
        self.ids.extend(result.node.id for result in made)

    def link(self, step: dict[str, Any]) -> None:
        if not self.ids:
            return
        new, old = self._node(step["new"]), self._node(step["old"])
        with self.engine.read() as reader:
            story = reader.story(Reach(self.memory.namespace), [old])
        # What would close a circle is refused; `test_resolve` asks for that on its own.
        if not any(new == tip or _comes_after(story, new, tip) for tip in story.tips(old)):
            self.memory.link(new, supersedes=[old])

    def unlink(self, step: dict[str, Any]) -> None:
        with self.engine.read() as reader:
            edges = reader.edges(Reach(self.memory.namespace), self.ids)
        links = [edge for edge in edges if edge.kind in SUCCESSION]
        if links:
            edge = links[step["edge"] % len(links)]
            self.memory.unlink(edge.new, edge.old)

    def forget(self, step: dict[str, Any]) -> None:
        if self.ids:
            self.memory.forget(self._node(step["node"]), purge=step["purge"])

    def _node(self, index: int) -> str:
        return self.ids[index % len(self.ids)]

    def _times(self, step: dict[str, Any]) -> dict[str, Any]:
        if step["begins"] is None:
            return {}
        begins = self.clock.now + timedelta(days=step["begins"])
        if step.get("lasts") is None:
            return {"valid_from": begins}
        return {"valid_from": begins, "valid_to": begins + timedelta(days=step["lasts"])}


def _said(step: dict[str, Any]) -> dict[str, Any]:
    return {"searchable": step["searchable"]} if "searchable" in step else {}


def _comes_after(story: Lineage, older: str, newer: str) -> bool:
    return any(
        edge.new == newer or _comes_after(story, edge.new, newer)
        for edge in story.successors(older)
    )
