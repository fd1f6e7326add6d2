"""After any history, in any namespaces, a search finds and ranks what brute force does."""

import itertools
import random
from dataclasses import dataclass, field
from datetime import datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import (
    START,
    Clock,
    next_version,
    note,
    patch_of,
    purge_of,
    removal,
    replaces,
)
from tests.conformance.searching import EVERYTHING, brute_force, equal_hits, tells_no_lie

from evomem.domain.namespace import Namespace, Reach
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Patch
from evomem.engines.base import Engine, Filters, SearchLimits

counter = itertools.count()
WORDS = [f"word{n}" for n in range(12)]
WEIGHTS = [1 / (n + 1) for n in range(12)]


@dataclass
class Written:
    """A note, and when it came, was forgotten and lost its text."""

    node: NodeRecord
    came: datetime
    version: int
    forgotten: datetime | None = None
    purged: bool = False
    followed: bool = False


@dataclass
class Author:
    """Writes at random into a few namespaces, and keeps what a search must know."""

    engine: Engine
    rng: random.Random
    root: Namespace
    clock: Clock = field(default_factory=Clock)
    written: list[Written] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spaces = [self.root, (*self.root, "below"), (*self.root, "below", "deep")]

    def text(self) -> str:
        return " ".join(self.rng.choices(WORDS, WEIGHTS, k=self.rng.choice([1, 3, 10, 60])))

    def act(self) -> None:
        self.clock.advance(minutes=self.rng.randint(0, 2))
        standing = [w for w in self.written if w.forgotten is None]
        actions = [self.add, self.add]
        if standing:
            actions += [self.replace, self.forget, self.purge, self.purge_forgotten]
        self.rng.choice(actions)()

    def add(self) -> None:
        namespace = self.rng.choice(self.spaces)
        tags = tuple(self.rng.sample(WORDS[:4], self.rng.randint(0, 2)))
        made = [note(self.text(), namespace=namespace, tags=tags) for _ in range(3)]
        came = self.commit(patch_of(*made, namespace=namespace, recorded_at=self.clock.now))
        self.written += [Written(node, came, 1) for node in made]

    def replace(self) -> None:
        if old := self.pick():
            new = next_version(old.node, self.text())
            edges = (replaces(new, old.node),)
            patch = patch_of(new, namespace=new.namespace, edges=edges, recorded_at=self.clock.now)
            came = self.commit(patch)
            old.followed = True
            self.written.append(Written(new, came, new.version))

    def forget(self, *, purge: bool = False) -> None:
        if one := self.pick():
            one.version += 1
            gone = removal(one.node, one.version, purge=purge, recorded_at=self.clock.now)
            one.forgotten, one.purged = self.commit(gone), purge

    def purge(self) -> None:
        self.forget(purge=True)

    def purge_forgotten(self) -> None:
        gone = [w for w in self.written if w.forgotten and not w.purged]
        if gone:
            one = self.rng.choice(gone)
            one.version += 1
            self.commit(purge_of(one.node, one.version, recorded_at=self.clock.now))
            one.purged = True

    def pick(self) -> Written | None:
        free = [w for w in self.written if w.forgotten is None and not w.followed]
        return self.rng.choice(free) if free else None

    def commit(self, patch: Patch) -> datetime:
        """Return the time that the store gave it, never before that of an earlier one."""
        return self.engine.commit(patch).recorded_at

    def expected(self, reach, words, known=None, *, removed=False, tag=None):
        """What a search must find of what was known then; counts are of the present."""
        inside = [w for w in self.written if inside_of(reach, w.node) and not w.purged]
        passing = [
            w.node.id
            for w in inside
            if (known is None or w.came <= known)
            and (removed or w.forgotten is None or (known is not None and w.forgotten > known))
            and (tag is None or tag in w.node.tags)
        ]
        return brute_force([w.node for w in inside], words, passing)


def inside_of(reach, node):
    depth = len(reach.namespace)
    below = reach.include_children and node.namespace[:depth] == reach.namespace
    return below or node.namespace == reach.namespace


def reaches(author):
    for namespace in author.spaces:
        for include_children in (False, True):
            yield Reach(namespace, include_children=include_children)


def unordered(hits):
    """Without the order of equal scores, which `test_search` looks at."""
    return sorted(hits, key=lambda hit: (-round(hit.score, 9), hit.node_id))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(st.integers(0, 2**32), st.integers(1, 20), st.data())
def test_every_search_after_any_history_is_that_of_brute_force(engine, seed, length, data):
    author = Author(engine, random.Random(seed), ("random", str(next(counter))))  # noqa: S311
    for _ in range(length):
        author.act()
    words = data.draw(st.lists(st.sampled_from([*WORDS, "nowhere"]), min_size=1, unique=True))
    limits = SearchLimits(
        *(data.draw(st.integers(low, high)) for low, high in [(1, 8), (0, 60), (1, 4)])
    )
    times = [None, START, *(w.came for w in author.written[-2:])]
    for reach in reaches(author):
        for known, removed, tag in [
            *((known, False, None) for known in times),
            (None, True, None),
            (times[-1], False, WORDS[1]),
        ]:
            expected = author.expected(reach, words, known, removed=removed, tag=tag)
            filters = Filters(removed=removed, tags=(tag,) if tag else ())
            with engine.read() as reader:
                view = reader if known is None else reader.known_by(known)
                every = view.search(reach, words, filters, EVERYTHING)
                some = view.search(reach, words, filters, limits)
            assert every.bound == 0
            equal_hits(unordered(every.hits), unordered(expected))
            tells_no_lie(some, expected)
            assert len(some.hits) >= min(limits.least, limits.depth, len(expected))


def test_a_store_made_again_from_its_notes_ranks_the_same(fresh):
    """No score depends on what a namespace went through, only on what is left."""
    first, second = fresh(), fresh()
    author = Author(first, random.Random(3), ("random",))  # noqa: S311  repeatable, no secret
    for _ in range(60):
        author.act()
    left = [w.node for w in author.written if not w.purged and w.forgotten is None]
    for gone in [w for w in author.written if w.forgotten and not w.purged]:
        first.commit(purge_of(gone.node, gone.version + 1))
    for node in left:
        alone = note(node.text, namespace=node.namespace, tags=node.tags, id=node.id)
        second.commit(patch_of(alone, namespace=node.namespace))
    for reach in reaches(author):
        with first.read() as one, second.read() as other:
            hits = [r.search(reach, WORDS, Filters(), EVERYTHING).hits for r in (one, other)]
        assert hits[0]
        equal_hits(*map(unordered, hits))
