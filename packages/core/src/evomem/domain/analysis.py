"""Text analysis shared by the search index and the query.

`tokens` says what the index stores for a text, `terms` what a query asks for. Both pass through
the same steps: Unicode folding, cutting into pieces at white space, script borders and sentence
punctuation, then per piece the whole and its parts. Everything here is linear in the text.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from evomem.domain.stemming import stem
from evomem.domain.stopwords import STOP_WORDS
from evomem.errors import SchemaVersionError

# Raised whenever the tokens of any text change: an index is queried with the version it was
# built with.
ANALYSIS_VERSION: int = 1
# What joins words inside a piece; white space, brackets, quotes and the rest end it.
_JOINING: Final = "-.:/@+#=&?!"
# An underscore counts as a letter, an asterisk only ends a name such as A*.
TOKEN_PUNCTUATION: str = f"_{_JOINING}*"

# Contents of character classes. Scripts written without blanks, by Unicode block: Thai, Lao,
# Myanmar, Hangul jamo, Khmer, CJK radicals, kana, bopomofo, Han, Hangul, planes 2 and 3 (Han).
_CJK: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f"
    "\u3040-\u30ff\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Their combining marks, which stay with the character before them.
_CJK_MARKS: Final = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059"
    "\u17b4-\u17d3\u17dd\u302a-\u302f\u3099\u309a"
)
# Blocks that are pictures as a rule; arrows, boxes and bullets are left out.
_EMOJI: Final = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001faff"
)
_JOINER: Final = "\u200d"
_TAGS: Final = "\U000e0020-\U000e007f"

# Unicode's Stream-Safe Text Format (UAX 15, section 13) allows 30 marks in a row.
_MOST_MARKS: Final = 30
# Sorting marks takes quadratic time, so long runs are cut before they reach `normalize`. The
# half-width voiced marks are the only letters that decompose into marks.
_LONG_MARK_RUN: Final = re.compile(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){31,}")
# Marks of Latin, Greek and Cyrillic, and the optional vowels of Arabic and Hebrew. Marks of
# other scripts, the Japanese voiced marks among them, are part of the letter.
_ACCENTS: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u0652\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\ufe20-\ufe2f]+"
)
_LOOSE_JOINER: Final = re.compile(
    f"(?<![{_EMOJI}\U000e0020-\U000e007f]){_JOINER}|{_JOINER}(?![{_EMOJI}])"
)
_KEPT: Final = re.compile(f"[\\x00-\\x7f{_CJK}{_EMOJI}{_JOINER}{_TAGS}]")
_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
_VARIATION_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
# Letters with a stroke and ligatures have no decomposition; quotes and hyphens vary by editor.
_REPLACED: Final[dict[int, int | str | None]] = {
    **str.maketrans("øØłŁđĐħĦŧŦı", "oOlLdDhHtTi"),
    **str.maketrans("\u2018\u2019\u02bc\u2010\u2011\u200b", "'''-- "),
    **str.maketrans(dict[str, int | str | None](æ="ae", Æ="AE", œ="oe", Œ="OE")),
}
# Bounds the memory of a process that is fed every Unicode character.
_MOST_REMEMBERED: Final = 65_536

# Long enough for paths and URLs people search as a whole; bounds the index's vocabulary.
_LONGEST_TOKEN: Final = 64
# Any character that folding kept, less ASCII punctuation, CJK and emoji.
_CHARACTER: Final = f"[^\\x00-/:-@\\[-^`{{-\\x7f{_CJK}{_EMOJI}{_JOINER}{_TAGS}]"
# The repeat is limited so that one piece never exceeds what the matcher can stack; 32 groups
# of two characters already fill a token.
_PIECE: Final = re.compile(
    rf"""
      (?<![\w*])[A-Za-z]\*(?![\w*])
    | (?:(?<![.@#])[.@#])?
      {_CHARACTER}+
      (?:(?:[{re.escape(_JOINING)}]{{1,3}}|'|(?<=[0-9]),(?=[0-9]{{3}}(?![0-9]))){_CHARACTER}+){{0,32}}
      (?:\+\+(?![\w+])|\#(?!\w))?
    | [{_CJK}]+
    | [\U0001f1e6-\U0001f1ff]{{2}}
    | [{_EMOJI}][{_TAGS}]*(?:{_JOINER}[{_EMOJI}][{_TAGS}]*)*
    """,
    re.VERBOSE,
)
_CJK_START: Final = re.compile(f"[{_CJK}]")
_CJK_UNIT: Final = re.compile(f".[{_CJK_MARKS}]*", re.DOTALL)

# Paths, URLs, scopes and assignments fall into names (csv.py, docker-prune.timer) ...
_NAME_BORDER: Final = re.compile(r"[/:=?&@!]+")
# ... and names into words, but 1.2.3 stays in one.
_WORD_BORDER: Final = re.compile(r"(?:[-_:/@+#=&?!*]|(?<![0-9])\.|\.(?![0-9]))+")
_WORD_CHARACTER: Final = re.compile(r"[^\x00-/:-@\[-`{-\x7f]")
_SYMBOL_NAME: Final = re.compile(r"(?<![a-z0-9])[a-z](?:\+\+|#(?![a-z0-9]))")

# An acronym at the front counts from three letters on: SQLite and IOError are one word.
_HUMP: Final = re.compile(r"[a-z][A-Z]|[A-Z]{4,}[a-z]|[0-9][A-Z][a-z]{2}")
_CAMEL_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ACRONYMS: Final = re.compile(r"[A-Z]{2,}s")
_LETTERS_NUMBER: Final = re.compile(r"(v|[a-z]{2,})([0-9][0-9.]*)|([0-9][0-9.]*)([a-z]+)")

_CONTRACTION: Final = re.compile(r"(?<=[a-z])'(?:s|re|ve|ll|d|m)$", re.IGNORECASE)
# French and Italian articles and pronouns.
_ELISION: Final = re.compile(
    r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|nell|sull|dall|all|gl|un)'", re.IGNORECASE
)

_STOP_STEMS: Final = frozenset(map(stem, STOP_WORDS))


def tokens(text: str) -> list[str]:
    """List what the index stores for a text, in text order, with repeats."""
    return _analyse(text, _cjk_index_tokens)


def terms(query: str) -> list[str]:
    """List the distinct terms of a query in order.

    Args:
        query: Plain text; no character is an operator.

    Returns:
        The terms without stop words, or with them if nothing else is left; empty if the query
        holds no token at all.
    """
    every = dict.fromkeys(_analyse(query, _cjk_query_tokens))
    return [term for term in every if term not in _STOP_STEMS] or list(every)


@dataclass(frozen=True, slots=True)
class Analysis:
    """One way to turn texts into tokens, the same for as long as an index carries its version.

    Attributes:
        version: A number above those of earlier ways.
        tokens: Lists what an index stores for a text, in text order, with repeats.
        terms: Lists the distinct terms of a query, in order.
    """

    version: int
    tokens: Callable[[str], list[str]]
    terms: Callable[[str], list[str]]


ANALYSES: dict[int, Analysis] = {ANALYSIS_VERSION: Analysis(ANALYSIS_VERSION, tokens, terms)}
"""Every analysis that an index may carry, by version."""


def current() -> Analysis:
    """Return the analysis for new indexes, the latest."""
    return ANALYSES[max(ANALYSES)]


def analysis(version: int) -> Analysis:
    """Return the analysis that an index carries.

    Raises:
        SchemaVersionError: It is of a later version of EvoMem.
    """
    if version not in ANALYSES:
        newest = max(ANALYSES)
        message = (
            f"The search index was made by text analysis {version}; this EvoMem knows {newest} at "
            "most. Upgrade EvoMem (pip install -U evomem-core) to use it."
        )
        raise SchemaVersionError(message, store=version, known=newest)
    return ANALYSES[version]


def terms_of(query: str, versions: Iterable[int]) -> list[str]:
    """List the distinct terms of a query for an index that carries several versions.

    Raises:
        SchemaVersionError: One is of a later version of EvoMem.
    """
    every = [term for version in versions for term in analysis(version).terms(query)]
    return list(dict.fromkeys(every))


def is_stop_word(token: str) -> bool:
    """Tell whether a token, as made by `tokens`, carries no topic."""
    return token in _STOP_STEMS


def _analyse(text: str, cjk: Callable[[str], Iterable[str]]) -> list[str]:
    found: list[str] = []
    for piece in _PIECE.findall(_fold_characters(text)):
        if piece[0] > "\x7f" and _CJK_START.match(piece):
            found.extend(map(_cut, cjk(piece)))
        elif len(piece) > _LONGEST_TOKEN:
            found.extend(_piece_tokens(piece))
        else:
            found.extend(_cached_piece_tokens(piece))
    return found


def _cjk_index_tokens(run: str) -> Iterator[str]:
    """Yield unigrams and overlapping bigrams, for words of one and of two characters."""
    units = _CJK_UNIT.findall(run)
    for unit, following in pairwise(units):
        yield unit
        yield unit + following
    yield units[-1]


def _cjk_query_tokens(run: str) -> Iterator[str]:
    """Yield bigrams only: common single characters would drown the ranking."""
    units = _CJK_UNIT.findall(run)
    return map("".join, pairwise(units)) if len(units) > 1 else iter(units)


def _piece_tokens(piece: str) -> tuple[str, ...]:
    """List the distinct tokens of one piece, the whole first."""
    if piece.isascii() and piece.isalpha():
        found = _word_tokens(piece)
    else:
        found = []
        for form in _without_apostrophes(piece.replace(",", "")):
            found += _compound_tokens(form)
    return tuple(dict.fromkeys(token for token in map(_cut, found) if token))


# A few megabytes; the vocabulary of a project is of this order.
_cached_piece_tokens = lru_cache(maxsize=16_384)(_piece_tokens)


def _without_apostrophes(piece: str) -> list[str]:
    """Drop contractions and elisions; of what remains give the joined form and the sides."""
    if "'" not in piece:
        return [piece]
    piece = _CONTRACTION.sub("", piece)
    if elision := _ELISION.match(piece):
        piece = piece[elision.end() :]
    joined = piece.replace("'", "")
    # The first side of don't is another word: a name.
    if piece.casefold().endswith("n't"):
        return [joined]
    return [joined, *(side for side in piece.split("'") if len(side) > 1)]


def _compound_tokens(piece: str) -> list[str]:
    words = [word for word in _WORD_BORDER.split(piece) if word]
    if not words:
        return []
    if words == [piece]:
        return _word_tokens(piece)
    whole = piece.casefold()
    found = [whole, *_names(whole)]
    if "+" in whole or "#" in whole:
        found += _SYMBOL_NAME.findall(whole)
    # In a date or a time the short numbers say nothing by themselves.
    only_digits = len(words) > 1 and not any(map(str.isalpha, piece))
    for word in words:
        if len(word) > 2 or not only_digits:
            found += _word_tokens(word)
    return found


def _names(whole: str) -> Iterator[str]:
    """Yield the names that are no single word, less punctuation another analysis would drop."""
    for side in _NAME_BORDER.split(whole):
        name = side.lstrip("-+").rstrip("-.")
        if not name.isalnum() and _WORD_CHARACTER.search(name):
            yield name


def _word_tokens(word: str) -> list[str]:
    """List a word's stem and, inside an identifier, the stems of its parts."""
    folded = word.casefold()
    found = [_stem_plain(folded)]
    if len(word) > _LONGEST_TOKEN or not word.isascii():
        return found
    if _ACRONYMS.fullmatch(word):
        found.append(folded[:-1])
    elif _HUMP.search(word) and (parts := _camel_parts(word)):
        # fetchItems is not fetchItem, yet a query in small letters shows no border of its words.
        found = [folded, *found, *parts]
    elif not word.isalpha() and (match := _LETTERS_NUMBER.fullmatch(folded)):
        found += [_stem_plain(part) for part in match.groups() if part and part != "v"]
    return found


def _camel_parts(word: str) -> list[str]:
    parts = _CAMEL_PART.findall(word)
    # Keys and base64 alternate at random, in runs of about two characters.
    if 2 * len(word) < 5 * len(parts):
        return []
    return [_stem_plain(part.lower()) for part in parts if len(part) > 1 or part.isdigit()]


def _stem_plain(word: str) -> str:
    return stem(word) if word.isascii() and word.isalpha() else word


def _cut(token: str) -> str:
    """Shorten a token to the limit; a border at the cut would not survive another analysis."""
    if len(token) <= _LONGEST_TOKEN:
        return token
    return token[:_LONGEST_TOKEN].rstrip(TOKEN_PUNCTUATION)


class _CharacterMap(dict[int, int | str | None]):
    """Table for `str.translate` that classifies characters as they turn up."""

    def __missing__(self, code: int) -> int | str | None:
        kept = _classify(code)
        if len(self) < _MOST_REMEMBERED:
            self[code] = kept
        return kept


def _classify(code: int) -> int | str | None:
    """Keep letters, marks, numbers and emoji, drop invisible characters, blank the rest."""
    category = unicodedata.category(chr(code))
    if code in _SKIN_TONES or any(code in block for block in _VARIATION_SELECTORS):
        return None
    if category[0] in "LMN":
        return code
    if _KEPT.match(chr(code)) and (code < 0x80 or category in ("So", "Sk", "Cf", "Cn")):
        return code
    return None if category == "Cf" else " "


_CHARACTERS: Final = _CharacterMap(_REPLACED)


def _fold_characters(text: str) -> str:
    """Fold a text so that the same words are the same characters; letter case is kept.

    Compatibility forms are unified (NFKC), accents of alphabets stripped, invisible characters
    dropped, and symbols other than ASCII and emoji become blanks.

    Args:
        text: Any string, lone surrogates included.

    Returns:
        Text of ASCII characters, letters, marks, numbers and emoji, in form NFC.
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", _LONG_MARK_RUN.sub(_cut_marks, text))
    kept = _ACCENTS.sub("", decomposed).translate(_CHARACTERS)
    return unicodedata.normalize("NFC", _LOOSE_JOINER.sub("", kept))


def _cut_marks(run: re.Match[str]) -> str:
    """Keep the first marks of the run and all that is no mark."""
    n_marks = 0
    kept = []
    for character in run[0]:
        is_mark = character in "\uff9e\uff9f" or unicodedata.category(character)[0] == "M"
        n_marks += is_mark
        if not is_mark or n_marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)
