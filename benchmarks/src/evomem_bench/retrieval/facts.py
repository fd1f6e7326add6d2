"""FactConsolidation: numbered facts of which later ones contradict earlier ones."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from evomem_bench.retrieval.data import FACTS
from evomem_bench.retrieval.pools import Note, Pool, Question, in_patches

UNLINKED = "FactConsolidation, single-hop, no links"
LINKED = "FactConsolidation, single-hop, links of the facts asked for"

_FACT = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
_WORD = re.compile(r"\w+")


def load_facts(data: Path, contexts: int | None = None) -> list[Pool]:
    """Make two pools of each single-hop context: as it is, and with links.

    The data does not say which fact holds an answer. It is the fact that ends with the answer and
    whose other words are best met by the question. Facts that begin alike up to the answer
    contradict it. Where that leaves a doubt, or the answer is not the last of them, the question
    is left out. Only facts that a question is about are linked.

    Args:
        data: The folder of the data.
        contexts: Only so many, the smallest; None takes all.
    """
    items = json.loads((data / FACTS).read_text("utf-8"))
    single = [item for item in items if "_sh_" in item["metadata"]["source"]]
    single.sort(key=lambda item: len(item["context"]))
    return [pool for item in single[:contexts] for pool in _pools(item)]


def _pools(item: dict[str, Any]) -> list[Pool]:
    facts = list(dict.fromkeys(_FACT.findall(item["context"])))
    size, finder = f"{len(facts):,} facts", _Finder(facts)
    questions: list[Question] = []
    links: dict[str, tuple[str, ...]] = {}
    for text, answers in zip(item["questions"], item["answers"], strict=True):
        if (story := finder.story(text, answers)) is not None:
            *olds, last = story
            questions.append(Question(size, text, frozenset([last]), frozenset(olds)))
            links |= {new: (old,) for old, new in pairwise(story)}
    plain = [Note(fact, fact) for fact in facts]
    linked = [Note(fact, fact, supersedes=links.get(fact, ())) for fact in facts]
    return [
        Pool(UNLINKED, size, in_patches(plain, {}), questions),
        Pool(LINKED, f"{size}, linked", in_patches(linked, {}), questions),
    ]


class _Finder:
    """Finds the fact that answers a question, and those it contradicts."""

    def __init__(self, facts: Sequence[str]) -> None:
        self._facts = facts
        self._count = Counter(word for fact in facts for word in _words(fact))

    def story(self, question: str, answers: Sequence[str]) -> list[str] | None:
        """Return the facts about what is asked, the right one last; None in doubt."""
        asked = _words(question)
        stems = {
            fact[: -len(answer) - 1]
            for answer in answers
            for fact in self._facts
            if fact.endswith(f" {answer}.")
        }
        best = sorted(stems, key=lambda stem: self._met(stem, asked), reverse=True)[:2]
        if not best or (len(best) == 2 and self._met(best[1], asked) == self._met(best[0], asked)):
            return None
        story = [fact for fact in self._facts if fact.startswith(best[0])]
        return story if story[-1] in {f"{best[0]}{answer}." for answer in answers} else None

    def _met(self, stem: str, asked: frozenset[str]) -> float:
        """Return the share of a stem's words that are asked for, the rare ones counting more."""
        weights = {word: math.log(len(self._facts) / self._count[word]) for word in _words(stem)}
        # Exact sums: equal stems must be equal in whatever order a set gives their words.
        met = math.fsum(weight for word, weight in weights.items() if word in asked)
        return met / (math.fsum(weights.values()) or 1.0)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
