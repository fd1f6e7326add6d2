"""Light stemming of plain words, the same for every language.

Only inflection that rarely changes the topic is removed: plurals, `-ing` and `-ed` of English,
plurals and cases of Spanish and German, and the commonest forms of Spanish verbs in -ar. A word
tells its language by its ending alone, so an ending counts with as many letters before it as no
English word shares. Derivation stays: `deployment` is not `deploy`. A stem is a key, not always a
word (`cookies` gives `cooky`).
"""

import re
from collections.abc import Iterator
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
    # Names, and what else ends as if it were Spanish or German.
    "aachen", "angeles", "armando", "charon", "dolores", "fearon", "fernando", "hessen",
    "macaron", "mercedes", "morales", "orlando", "rosales", "sharon", "stamos",
})
# fmt: on

_IRREGULAR: Final = {
    "agreed": "agree",
    "alamos": "alamo",
    "aliases": "alias",
    "analyses": "analysis",
    "apis": "api",
    "atlases": "atlas",
    "biases": "bias",
    "buses": "bus",
    "caches": "cache",
    "canvases": "canvas",
    "cpus": "cpu",
    "dynamos": "dynamo",
    "focuses": "focus",
    "gases": "gas",
    "gpus": "gpu",
    "indices": "index",
    "lenses": "lens",
    "menus": "menu",
    "rationales": "rationale",
    # Spanish.
    "capaces": "capaz",
    "eficaces": "eficaz",
    "felices": "feliz",
    "gramos": "gramo",
    "indice": "index",
    "intereses": "interes",
    "kilogramos": "kilogramo",
    "leyes": "ley",
    "luces": "luz",
    "meses": "mes",
    "paises": "pais",
    "prestamos": "prestamo",
    "raices": "raiz",
    "redes": "red",
    "tramos": "tramo",
    "veces": "vez",
    "veloces": "veloz",
    "voces": "voz",
    # German.
    "firmen": "firma",
    "gerate": "gerat",
    "geraten": "gerat",
    "hauser": "haus",
    "hausern": "haus",
    "jahre": "jahr",
    "konten": "konto",
    "namen": "name",
    "netze": "netz",
    "tage": "tag",
    "themen": "thema",
    "werte": "wert",
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
    ("ies", "y"),
    ("s", ""),
)

# What of an ending stays, what goes (one of several), and what comes instead; without accents.
_SPANISH: Final = """
ion|es dad|es icitud|es pared|es dor|es ctor|es itor|es otor|es utor|es sor|es rror|es alor|es
olor|es yor|es jor|es rior|es avor|es enor|es umor|es onal|es minal|es ginal|es ital|es otal|es
ental|es rtal|es eral|es tral|es poral|es boral|es ural|es ual|es ial|es bal|es egal|es ical|es
iscal|es rmal|es imal|es eal|es ival|es cipal|es ersal|es canal|es senal|es ivel|es apel|es
otel|es anel|es artel|es ontrol|es anol|es arbol|es movil|es util|es acil|es icil|es erfil|es
ortatil|es abil|es ebil|es ivil|es agil|es agen|es igen|es rden|es xamen|es oven|es umen|es
imen|es acen|es eman|es itan|es etin|es jardin|es azon|es atron|es oton|es ajon|es illon|es
omun|es ugar|es ogar|es mplar|es ular|es litar|es iliar|es imilar|es olar|es ujer|es aller|es
uiler|es oder|es eber|es acter|es lider|es |ando|ar |amos|ar |aron|ar |aban|ar |aremos|ar
"""
_GERMAN: Final = """
ung|en heit|en keit|en schaft|en ion|en itat|en ei|en bank|en cht|e,en schrift|en enz|en stanz|en
lanz|en nanz|en eranz|en vanz|en zeit|en arbeit|en zahl|en elle|n esse|n asse|n frage|n gabe|n
ache|n oche|n seite|n unde|n anlage|n orlage|n ndlage|n onente|n iante|n tante|n iable|n uppe|n
thode|n eile|n palte|n name|n rolle|n karte|n ebene|n feld|er bild|er glied|er wort|er buch|er
blatt|er hler|n tzer|n iter|n chner|n rver|n iber|n rdner|n rtner|n ndler|n ainer|n nster|n mmer|n
ller|n cker|n pper|n ffer|n gger|n lder|n nder|n ieder|n orter|n ucher|n el|n bnis|se,sen
dnis|se,sen fnis|se,sen hnis|se,sen rnis|se,sen tnis|se,sen zess|e odell|e ienst|e,en jekt|e,en
ifikat|e,en wert|e,en jahr|e,en monat|e,en rtrag|e,en ntrag|e,en uftrag|e,en eitrag|e,en
ugang|e,en ngang|e,en rgang|e,en sgang|e,en lauf|e,en griff|e,en chritt|e,en chnitt|e,en
punkt|e,en paket|e,en ystem|e,en oblem|e,en format|e,en mular|e,en ument|e,en element|e,en
eriment|e,en stadt|e,en grund|e,en rfall|e,en sfall|e,en satz|e,en platz|e,en netz|e,en
"""


def _endings(*tables: str) -> Iterator[tuple[str, str]]:
    """Yield each ending as it is found and as it is left."""
    for entry in " ".join(tables).split():
        kept, dropped, *added = entry.split("|")
        for ending in dropped.split(","):
            yield kept + ending, "".join((kept, *added))


# The longest that fits counts.
_SHORTEST_INFLECTED: Final = 6
_ENDINGS: Final = dict(_endings(_SPANISH, _GERMAN))
_ENDING_LENGTHS: Final = sorted({len(ending) for ending in _ENDINGS}, reverse=True)

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
    if last in "enors" and len(word) >= _SHORTEST_INFLECTED:
        for length in _ENDING_LENGTHS:
            if left := _ENDINGS.get(word[-length:]):
                return word[:-length] + left
    if last == "s":
        return _singular(word)
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
