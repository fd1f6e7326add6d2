"""Light stemming of plain words, the same for every language.

Only inflection that rarely changes the topic is removed: plurals, `-ing` and `-ed` of English,
and the few Spanish and German plural endings that no English word shares. Derivation stays:
`deployment` is not `deploy`. A stem is a key, not always a word (`cookies` gives `cooky`).
"""

import re
from typing import Final

# Below four letters nearly every final s belongs to the word (bus, css, dns, aws).
_SHORTEST: Final = 4
# Longer letter runs are keys and blobs, not words.
_LONGEST: Final = 30

# fmt: off
_UNCHANGED: Final = frozenset({
    "alias", "always", "anything", "atlas", "basis", "being", "bias", "canvas", "ceiling",
    "embed", "evening", "everything", "focus", "hang", "hundred", "indeed", "infrared", "james",
    "kindred", "lens", "meeting", "morning", "naked", "news", "nothing", "pandas", "perhaps",
    "sacred", "setting", "something", "staging", "texas",
})
# fmt: on

_IRREGULAR: Final = {
    "agreed": "agree",
    "aliases": "alias",
    "analyses": "analysis",
    "apis": "api",
    "atlases": "atlas",
    "biases": "bias",
    "buses": "bus",
    "caches": "cache",
    "canvases": "canvas",
    "cpus": "cpu",
    "focuses": "focus",
    "gases": "gas",
    "gpus": "gpu",
    "indices": "index",
    "lenses": "lens",
    "menus": "menu",
}

# Longest match first. `-uses` loses two letters only after the consonants of nouns in -us
# (status, bonus, virus), since verbs end in -use after others (refuse, excuse, pause).
_PLURALS: Final = (
    ("sses", "ss"),
    ("shes", "sh"),
    ("ches", "ch"),
    ("xes", "x"),
    ("tuses", "tus"),
    ("nuses", "nus"),
    ("ruses", "rus"),
    ("puses", "pus"),
    ("luses", "lus"),
    ("iuses", "ius"),
    ("iones", "ion"),
    ("dades", "dad"),
    ("dores", "dor"),
    ("ies", "y"),
    ("s", ""),
)
_GERMAN_PLURALS: Final = ("ungen", "heiten", "keiten", "schaften")

_VOWEL: Final = re.compile(r"[aeiou]|(?<!^)y")
_DOUBLED: Final = re.compile(r"([bdgmnprt])\1$|[aeiou][^aeiou]+[eo]ll$|[in]all$")
# Porter's rule *o: one syllable, consonant-vowel-consonant (mov, typ, stor).
_ONE_SYLLABLE: Final = re.compile(r"(?:qu|[^aeiou])*[aeiouy][^aeiouwxy]")
# Where English spells a verb with a final e that -ing and -ed swallow. Own list of endings.
_SILENT_E: Final = re.compile(
    r"""(?:
      v | (?<!z)z | (?<!yn)c | u | (?<!s)s | (?<!n)g | (?:a|e)ng
    | [bcdfgkpstz]l | [^aeiou][iu]l
    | (?:[^aeo]|cre)at | (?:wr|inv|un|exc)it | (?:[^aeo]|ro)ut | (?:del|pl|omp)et | (?:m|den|dev)ot
    | (?:[^aeiou]|gu)id | [^aeiou]ud | [^aeio]ad | [^aeiou]od
    | [^aeiou][au]m | com | [^aeiou]in | [^aeiou]ap | [^aeiou][aio]k | rib
    | (?:[^aeiou]|qu)ar | (?:st|pl|gn)or | [^aeio][iu]r | tr
    | cach | [ptw]ast | [cs]ed | pon | tun | typ | scal
    )$""",
    re.VERBOSE,
)


def stem(word: str) -> str:
    """Reduce a lower-case ASCII word to its stem; stems are left as they are."""
    if len(word) > _LONGEST:
        return word
    # Every change shortens the word, so the fixed point exists; it makes stems idempotent.
    while (shorter := _strip_one_ending(word)) != word:
        word = shorter
    return word


def _strip_one_ending(word: str) -> str:
    if len(word) < _SHORTEST or word in _UNCHANGED:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    last = word[-1]
    if last == "s":
        return _singular(word)
    if last == "n" and word.endswith(_GERMAN_PLURALS):
        return word[:-2]
    if word.endswith("ing"):
        return _verb(word, word[:-3])
    if word.endswith("ed"):
        return _participle(word)
    if word.endswith("ie") and len(word) > _SHORTEST:
        return f"{word[:-2]}y"
    return word


def _singular(word: str) -> str:
    if word.endswith(("ss", "us", "is")):
        return word
    for ending, replacement in _PLURALS:
        if word.endswith(ending) and (ending != "ies" or len(word) > _SHORTEST):
            return word[: -len(ending)] + replacement
    return word


def _participle(word: str) -> str:
    if word.endswith("eed"):
        return word
    if word.endswith("ied") and len(word) > _SHORTEST:
        return f"{word[:-3]}y"
    return _verb(word, word[:-2])


def _verb(word: str, base: str) -> str:
    """Return the verb whose form `word` is, or `word` if `base` cannot be one."""
    if len(base) < 2 or not _VOWEL.search(base):
        return word
    if base in _UNCHANGED:
        return base
    if len(base) >= _SHORTEST and _DOUBLED.search(base):
        return base[:-1]
    if _ONE_SYLLABLE.fullmatch(base) or _SILENT_E.search(base):
        return f"{base}e"
    return base
