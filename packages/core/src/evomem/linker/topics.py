"""What a plain decision is about: the thing that is set, moved or chosen for.

"We use Postgres for the ledger", "The ledger runs on Postgres" and "We moved the ledger to SQLite"
are about the ledger; "The ledger team meets on Tuesdays" is about a team. Only short frames are
read; a decision told in another way has no topic here.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Looked at in this order; the first that fits names the topic.
_MOVED = r"""
    (?:mov(?:e|ed|es|ing)|switch(?:ed|es|ing)?|migrat(?:e|ed|es|ing)|chang(?:e|ed|es|ing)
    |rais(?:e|ed|es)|lower(?:ed|s)?|set|cut|cap(?:ped)?|bump(?:ed)?|convert(?:ed)?|renam(?:e|ed)
    |rewr(?:ote|ite)|port(?:ed)?|put|split
    |movemos|cambiamos|pasamos|migramos|movimos|subimos|bajamos
    |stellen|ziehen|verlegen|setzen|migrieren)
"""
_ABOUT = r"""
    (?:pick(?:ed)?|cho(?:se|ose|sen)|us(?:e|es|ed|ing)|adopt(?:ed)?|took|went\ with|prefer
    |usamos|usaremos|elegimos|adoptamos|utilizamos|nutzen|verwenden|nehmen)
"""
_DONE = r"(?:keep|store|write|run|host|rent|buy|deploy|publish|build|serve|order|track|review)"
_STATE = r"""
    (?:is|are|was|were|isn't|aren't|runs?|us(?:e|es)|lives?|happens?|goes|go|gets?|stays?|moves?
    |moved|switch(?:es|ed)?|change[sd]?|must|needs?|opens?|closes?|starts?|ends?|meets?|takes?
    |comes?|eats?|ships?|now
    |es|son|está|están|se|usa|usan|va|van|pasa|pasan|corre
    |ist|sind|läuft|laufen|wird|werden|nutzt|liegt|gilt|findet|beginnt|endet|kostet)
"""
_ARTICLE = r"""
    (?:the|our|all|my|its|their|a|an|el|la|los|las|nuestro|nuestra|die|der|das|den|dem|unser|unsere
    |alle|der)\s
"""
_NAME = r"(?:[^\W\d][\w/'\u2019-]*(?:\.\w+)*)"
_THING = rf"(?P<thing>{_NAME}(?:\s{_NAME}){{0,3}}?)"
_START = r"^(?:now|ahora|ab\s\w+|from\snow\son)?,?\s*"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for pattern in (
        # we moved the ledger to ...
        rf"(?<!\w)(?<!is\s)(?<!are\s){_MOVED}\s(?:{_ARTICLE})?{_THING}\s(?:over\s|back\s)?(?:to|from|onto|into|off|with|by|at|a|al|de|auf|nach|von|um|zu)(?!\w)",
        # we picked Postgres for the ledger
        rf"(?<!\w){_ABOUT}\s[^.;:\n]{{1,60}}?\s(?:for|para|für)\s(?:{_ARTICLE})?{_THING}(?=\s*[.,;:\n]|\s(?:now|because|since|as|instead|ahora|jetzt|from)\b|\s*$)",
        # we keep backups on S3
        rf"^(?:we|i)\s{_DONE}\s(?:{_ARTICLE})?{_THING}\s(?:on|in|with|from|at|to|by)(?!\w)",
        # we deploy on Fridays
        r"^(?:we|i|wir|ich)\s(?:now\s|only\s|jetzt\s)?(?P<thing>[^\W\d]{3,})\s(?:on|at|every|only|once|twice|ab|am|um|nur|immer|jeden|[^\W\d]{3,}tags)(?!\w)",
        # the ledger runs on ...
        rf"{_START}(?:{_ARTICLE})?{_THING}\s{_STATE}(?!\w)",
    )
)
_NO_WORDS = """
    we i they he she it you this that there everyone wir ich es sie nobody who what
    are agreed was were rely depend settled insist focus work
"""
_NO_THING = frozenset(_NO_WORDS.split())
MAX_CHARS = 160


def topic(decision: str) -> str:
    """Return the name of what a decision is about, as written, or nothing."""
    return _topic(decision[:MAX_CHARS])


@lru_cache(maxsize=2048)
def _topic(start: str) -> str:
    for pattern in _PATTERNS:
        if match := pattern.search(start):
            thing = match["thing"]
            if thing.split()[0].casefold() not in _NO_THING:
                return thing
    return ""
