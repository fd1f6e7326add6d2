"""The rule-based linker: speech act, scope, then words in common and words of change.

It suggests and, unless asked to, never links. Its confidence is the share of like cases in which
hand-written notes did replace the candidate, wholly or in part; with `auto` it links on that
estimate alone, which is less precise than an answer from the agent that wrote the note.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from evomem.domain.analysis import is_stop_word, tokens
from evomem.domain.decision import Abstain, Candidate, Link, LinkDecision, NoLink, Suggestion
from evomem.domain.scope import contains
from evomem.domain.text import fold_whitespace
from evomem.linker import cues
from evomem.linker.base import NoteView
from evomem.linker.topics import topic

NAME = "heuristic/1"
MAX_SUGGESTIONS = 3
MIN_CONFIDENCE = 0.3
LINK_CONFIDENCE = 0.8
RIVAL_CONFIDENCE = 0.5
# A decision is told early; the rest of a long text only costs time.
MAX_CHARS = 4_000
MAX_NAMED = 3
_WRITTEN = re.compile(r"[\w.+#/-]*\w[+#]*")

# One character of a script without blanks is a word, or half of one.
_UNSPACED = "\u2e80"
# What decisions of any topic have in common.
_DECIDING = frozenset(token for word in cues.DECIDING.split() for token in tokens(word))

# Log-odds of each sign, fitted on the project's training notes and rounded. The last four were
# set by hand: they are rare there, and plain where they occur.
PRIOR = -2.7
WEIGHTS = {
    "same_subject": 0.7,
    "near_subject": -1.8,
    "other_subject": -2.2,
    "narrower_scope": -1.7,
    "shared_words": 0.75,
    "overlap": 1.5,
    "likeness": 1.55,
    "likest": 0.85,
    "says_change": 0.6,
    "other_numbers": 0.4,
    "says_keep": -0.5,
    "says_add": -0.5,
    "doubt": -0.95,
    "nothing_decided_before": -1.2,
    "given_up": 0.8,
    "restated": -2.0,
    "place_on_one_side": -0.3,
    "other_place": -2.5,
    "trial_place": -2.2,
    "same_topic": 1.2,
    "other_topic": -1.2,
    "one_word": -0.9,
}


@dataclass(frozen=True, slots=True)
class _Words:
    """The content words of a text, those of its decision, and the name of what it is about."""

    every: frozenset[str]
    decision: frozenset[str]
    topic: frozenset[str]

    @property
    def numbers(self) -> frozenset[str]:
        return frozenset(word for word in self.decision if word[0].isdigit())


class HeuristicLinker:
    """Linker by rules; pure, and fast enough to run on every write.

    Args:
        auto: Link where one candidate reaches 0.8 and no other comes near. Less precise than a
            model, and than the calling agent; off by default.
    """

    def __init__(self, *, auto: bool = False) -> None:
        self._auto = auto

    @property
    def name(self) -> str:
        """Name and version."""
        return NAME

    def gate(self, note: NoteView) -> NoLink | None:
        """Refuse what asks, plans, mentions or confirms."""
        refusal = _speech_act(note)
        return NoLink(refusal, 0.9) if refusal else None

    def decide(self, note: NoteView, candidates: Sequence[Candidate]) -> LinkDecision:
        """Return suggestions, best first, or why there are none."""
        if refused := self.gate(note):
            return refused
        others = [c for c in candidates if not _says_the_same(note, c)]
        reachable = [c for c in others if contains(note.scope, c.scope) and _slots_agree(note, c)]
        if others and not reachable:
            return NoLink("Every similar note holds in another or a wider scope.")
        suggestions = _ranked(note, reachable)
        if not suggestions:
            return NoLink("No earlier note is alike enough to be replaced by it.", 0.7)
        first = suggestions[0]
        rival = suggestions[1].confidence if len(suggestions) > 1 else 0.0
        if self._auto and first.confidence >= LINK_CONFIDENCE and rival < RIVAL_CONFIDENCE:
            return Link((first.node_id,), first.reason, first.confidence)
        reason = "The new note may replace what is suggested; link it if it does."
        return Abstain(suggestions, reason)


def _speech_act(note: NoteView) -> str:
    """Return why the note replaces nothing whatever came before, or nothing."""
    text = note.text[:MAX_CHARS].rstrip()
    decision = (note.change or text)[:MAX_CHARS]
    doubts = cues.DOUBTS_CHARACTERS.search(text)
    if text.endswith(("?", "\uff1f")) or (not note.change and cues.ASKS_WORDS.search(text)):
        return "The note asks, it does not decide."
    if not note.change and (doubts or cues.PLANS_WORDS.search(text)):
        return "The note plans or weighs something, it does not decide."
    if not note.change and not _says_change(text):
        return "The note decides nothing."
    if _says_keep(decision) and not _says_change(text):
        return "The note confirms what holds."
    return ""


def _ranked(note: NoteView, candidates: Sequence[Candidate]) -> tuple[Suggestion, ...]:
    """Return the candidates worth asking about, best first."""
    own = _words(note.text, note.change)
    theirs = [_words(candidate.text, candidate.change) for candidate in candidates]
    likeness = [_likeness(own.every, words.every) for words in theirs]
    most = max(likeness, default=0.0)
    said = _said_by(note)
    given_up = _given_up(note.text[:MAX_CHARS])
    found = []
    for candidate, words, alike in zip(candidates, theirs, likeness, strict=True):
        signs = said | _between(note, candidate, own, words)
        signs["trial_place"] *= not words.decision & cues.PLACES
        signs["likeness"] = alike
        signs["likest"] = float(alike == most > 0)
        signs["given_up"] = float(not given_up.isdisjoint(words.every))
        signs["restated"] *= not (signs["says_change"] or signs["given_up"])
        signs["one_word"] *= not (
            signs["given_up"] or "same_topic" in signs or "same_subject" in signs
        )
        signs["says_change"] *= bool(signs["overlap"])
        confidence = _confidence(signs)
        if confidence >= MIN_CONFIDENCE:
            reason = _reason(note, signs, own, words, given_up)
            found.append(Suggestion(candidate.node_id, candidate.text, reason, confidence))
    return tuple(sorted(found, key=lambda found: -found.confidence)[:MAX_SUGGESTIONS])


def _said_by(note: NoteView) -> dict[str, float]:
    """Return what the note's own words say about replacing anything."""
    text = note.text[:MAX_CHARS]
    decision = (note.change or note.text)[:MAX_CHARS]
    doubts = (cues.PLANS_WORDS, cues.ASKS_WORDS, cues.DOUBTS_CHARACTERS)
    return {
        "says_change": float(_says_change(text)),
        "says_keep": float(_says_keep(decision)),
        "says_add": float(cues.ADDS_WORDS.search(decision) is not None),
        "trial_place": float(cues.FOR_A_TRIAL.search(decision) is not None),
        "doubt": float("?" in text or any(doubt.search(text) for doubt in doubts)),
    }


def _between(note: NoteView, candidate: Candidate, own: _Words, theirs: _Words) -> dict[str, float]:
    """Return what the two notes have in common and where they differ."""
    common = own.every & theirs.every
    shared = len(common)
    smaller = min(len(own.every), len(theirs.every))
    overlap = shared / smaller if smaller else 0.0
    subjects = _subjects(note.subject, candidate.subject)
    here, there = own.decision & cues.PLACES, theirs.decision & cues.PLACES
    numbers = own.numbers ^ theirs.numbers
    return {
        **({subjects: 1.0} if subjects else {}),
        "narrower_scope": float(note.scope != candidate.scope),
        "shared_words": min(shared, 4) / 4,
        "overlap": overlap,
        "one_word": float(shared == 1 and max(common) < _UNSPACED),
        "other_numbers": float(bool(own.numbers and theirs.numbers and numbers) and shared > 1),
        "restated": float(overlap > 0.8 and not numbers),
        **_topics(own, theirs),
        "place_on_one_side": float(bool(here) != bool(there)),
        "other_place": float(bool(here and there) and here.isdisjoint(there)),
        "nothing_decided_before": float(not candidate.change),
    }


def _topics(own: _Words, theirs: _Words) -> dict[str, float]:
    """Return the sign that two names of what is decided about give, if both are plain."""
    if not own.topic or not theirs.topic:
        return {}
    if own.topic & theirs.topic:
        return {"same_topic": 1.0}
    apart = own.topic.isdisjoint(theirs.every) and theirs.topic.isdisjoint(own.every)
    apart = apart or len(own.every & theirs.every) == 1
    return {"other_topic": 1.0} if apart else {}


def _confidence(signs: dict[str, float]) -> float:
    """Return the share of such pairs that were replacements."""
    odds = PRIOR + sum(WEIGHTS[sign] * value for sign, value in signs.items())
    return round(1 / (1 + math.exp(-odds)), 2)


def _reason(
    note: NoteView, signs: dict[str, float], own: _Words, theirs: _Words, given_up: frozenset[str]
) -> str:
    """Return in one line what speaks for the suggestion."""
    parts = []
    gone = given_up & theirs.every
    if gone:
        parts.append(f"gives up {_as_written(note.text, gone)}")
    elif signs["says_change"]:
        parts.append("has words of change")
    if signs.get("same_subject"):
        parts.append("has the same subject")
    shared = own.every & theirs.every - gone
    if shared:
        parts.append(f"shares {_as_written(note.text, shared & own.decision or shared)}")
    return f"The new note {', '.join(parts)}." if parts else "The new note is much like it."


def _as_written(text: str, words: frozenset[str]) -> str:
    """Return a few of the words as the text spells them; `words` are folded and stemmed."""
    found: dict[str, str] = {}
    for written in _WRITTEN.findall(text[:MAX_CHARS]):
        for word in words.intersection(tokens(written)) - found.keys():
            found[word] = written
        if len(found) >= MAX_NAMED:
            break
    return ", ".join(dict.fromkeys(found.values())) or ", ".join(sorted(words)[:MAX_NAMED])


def _words(text: str, change: str) -> _Words:
    every = _content(text)
    decision = _content(change) if change and change != text else every
    named = topic(change or text).split()
    return _Words(every, decision, frozenset(tokens(named[-1])) if named else frozenset())


def _content(text: str) -> frozenset[str]:
    """Return the distinct words of a text that carry a topic."""
    found = set(tokens(text[:MAX_CHARS]))
    return frozenset(
        word for word in found if len(word) > 1 and not is_stop_word(word) and word not in _DECIDING
    )


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the cosine of two sets of words."""
    return len(one & other) / math.sqrt(len(one) * len(other) or 1)


def _given_up(text: str) -> frozenset[str]:
    """Return the words of what the text says is replaced, left or stopped."""
    named = [match[1] for match in cues.LEAVES.finditer(text)]
    for match in cues.GIVES_UP_WORDS.finditer(text):
        clause = cues.CLAUSE_END.split(text[match.end() : match.end() + 40] + " ", maxsplit=1)[0]
        named.append(" ".join(clause.split()[:4]))
    return frozenset().union(*map(_content, named))


def _subjects(one: str | None, other: str | None) -> str:
    """Return the sign that two subjects give; subjects may be paths, `money/rounding`."""
    if not one or not other:
        return ""
    one, other = one.casefold(), other.casefold()
    if one == other:
        return "same_subject"
    near = one.split("/")[0] == other.split("/")[0]
    return "near_subject" if near else "other_subject"


def _slots_agree(note: NoteView, candidate: Candidate) -> bool:
    return not note.slot or not candidate.slot or note.slot == candidate.slot


def _says_the_same(note: NoteView, candidate: Candidate) -> bool:
    """Tell whether the candidate is the note itself, or holds its every word in order."""
    return fold_whitespace(note.text) in fold_whitespace(candidate.text)


def _says_change(text: str) -> bool:
    return bool(cues.CHANGES_WORDS.search(text) or cues.CHANGES_CHARACTERS.search(text))


def _says_keep(text: str) -> bool:
    return bool(cues.KEEPS_WORDS.search(text) or cues.KEEPS_CHARACTERS.search(text))
