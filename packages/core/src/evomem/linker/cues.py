"""Words that tell what a new note does to an earlier one, by language.

Every list becomes one pattern; words are matched whole and without case, except in Chinese and
Japanese, which are written without blanks.
"""

from __future__ import annotations

import re

ASKS = """
    should we, should i, shall we, could we, can we, do we, does anyone, does it, what about, whether,
    asks, asked if, wonders, wants to know, deberíamos, pregunta, fragt, sollten wir, ob wir,
    devrait-on, demande si, pergunta
"""
PLANS = """
    maybe, perhaps, might, we may, proposal, proposes, proposed to, idea, thinking about, considering,
    plan to, plans to, planned, intend, intends, next week, next month, next quarter, next year,
    will evaluate, will look, will try, will test, look into, to be discussed, not yet decided,
    nothing decided, no decision, undecided, draft, for discussion, would like to,
    quizá, tal vez, propuesta, podríamos, la semana que viene, sin decidir,
    vielleicht, vorschlag, könnten wir, geplant, nächste woche, soll im, noch nicht entschieden,
    peut-être, proposition, on pourrait, talvez, proposta
"""
KEEPS = """
    still, stays, stay, stay with, remains, remain, keep, keeps, keeping, kept, continues, continue,
    unchanged, as before, not changing, no change, sticking, stick with, confirmed, stands, goes on,
    as agreed, as ever, untouched, reminder,
    sigue, siguen, seguimos, se mantiene, mantenemos, sin cambios, como siempre, se queda,
    bleibt, bleiben, weiterhin, unverändert, wie bisher, behalten, nach wie vor,
    reste, restent, on garde, inchangé, toujours, continua, mantém, fica como
"""
ADDS = """
    also, additionally, in addition, adds, added, addition, addendum, on top, clarifies, detail,
    bump, bumped, upgrade, upgraded, update to, within, además, también, añade, detalle, aclara,
    auch, zusätzlich, ergänzung, ergänzt, zudem, aussi, également, précision, também
"""
CHANGES = """
    moved, moves, move, moving, migrated, migrate, switched, switch, switching, swapped, swap,
    replaced, replace, replaces, replacing, changed, changes, change, reversed, revert, reverted,
    back to, dropped, drop, drops, abandoned, retired, removed, cancelled, canceled, ended, ends,
    stopped, stop, scrap, scrapped, suspended, withdrawn, gone, is out, is dead, is off, is over,
    no longer, no more, not any more, anymore, instead, instead of, rather than, now, from now on,
    as of, from monday, supersedes, obsolete, overturned, correction, gave up, becomes, new,
    cambiamos, cambia, cambió, pasamos, pasa, movemos, dejamos, sustituye, reemplaza, ya no,
    en vez de, en lugar de, ahora, a partir de, desde ahora, volvemos, se suprime, queda sustituida,
    ersetzt, wechseln, gewechselt, umgestellt, umgezogen, statt, anstatt, nicht mehr, ab sofort,
    jetzt, künftig, zurück, abgeschafft, entfällt, eingestellt, abgelöst, statt dessen,
    remplace, remplacé, passe à, passons, au lieu de, ne plus, désormais, maintenant, fini,
    substitui, trocamos, mudámos, mudou, em vez de, já não, agora, deixamos
"""
CHANGES_UNSPACED = """
    改用 改为 改成 换成 迁移到 不再 取消 停用 废止 取代 代替 从今 现在都 转到 恢复 撤销
    に変更 に切り替え に移行 をやめ 廃止 ではなく 代わり 中止 に戻 になった 置き換え
"""
KEEPS_UNSPACED = "不变 照旧 继续 仍 维持 保持 のまま 続け 変わらず 維持 今まで通り 従来通り"
DOUBTS_UNSPACED = " か。 でしょうか 要不要 会不会 能不能 也许 建议 提案 かも 検討中 未定 待定"

# What follows one of these names the thing that is given up; `from` and its like need a `to`.
GIVES_UP = """
    instead of, rather than, replaces, replacing, replaced, replace, dropped, drop, drops, retired,
    supersedes, stopped using, no longer, no more, moved off, away from, abandoned, cancelled,
    removed, gave up, scrap, rip out, en vez de, en lugar de, dejamos, sustituye a, sustituye,
    reemplaza, ya no, adiós a, statt, anstatt, ersetzt, nicht mehr, weg von,
    au lieu de, remplace, em vez de, substitui
"""
LEAVES = re.compile(
    r"(?<!\w)(?:from|off|de|von|vom)\s(\S[^,.;:()\n]{0,38}?)\s(?:to|onto|a|al|auf|nach|zu|à|para)\s",
    re.IGNORECASE,
)
# Where things are tried: what is decided for such a place holds nowhere else.
FOR_A_TRIAL = re.compile(
    r"(?<!\w)(?:for|in|on|at|under|para|en|für|auf|im)\s(?:the\s|our\s|la\s|el\s|die\s|der\s|das\s)?"
    r"(?:staging|stage|dev|development|tests?|qa|canary|ci|demo|sandbox|preview|local|pruebas"
    r"|desarrollo|testumgebung|entwicklung)(?!\w)",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(
    r"[,.;:()\n]|\s(?:to|with|by|for|as|and|since|because|por|porque|con|y|durch|mit|und|weil|auf|par)\s"
)
# Where a decision holds: named on one side only, two notes may well be about two places.
PLACES = frozenset(
    {
        *("prod", "production", "staging", "stage", "dev", "development", "test", "qa", "canary"),
        *("ci", "local", "locally", "demo", "sandbox", "preview", "eu", "us", "uk", "apac", "emea"),
        *("asia", "europe", "mobile", "ios", "android", "web", "desktop", "frontend", "backend"),
        *("producción", "pruebas", "produktion", "testumgebung", "intern", "internal", "external"),
    }
)
# Verbs and words of deciding: two notes that share only these share nothing.
DECIDING = """
    use uses used using pick picked choose chose chosen move moved moves moving switch switched
    replace replaced adopt adopted decide decided go went now instead keep kept
    usar usamos usaremos elegimos movemos cambiamos pasamos dejamos ahora
    nutzen verwenden nehmen wechseln jetzt
    happen happens run runs live lives stored written takes stay stays
"""


def _words(*lists: str) -> re.Pattern[str]:
    """Return the pattern of any entry of the lists; longer entries first."""
    entries = {" ".join(entry.split()) for text in lists for entry in text.split(",")}
    inner = "|".join(re.escape(entry) for entry in sorted(entries, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{inner})(?!\w)", re.IGNORECASE)


def _characters(text: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, text.split())))


ASKS_WORDS = _words(ASKS)
PLANS_WORDS = _words(PLANS)
KEEPS_WORDS = _words(KEEPS)
ADDS_WORDS = _words(ADDS)
CHANGES_WORDS = _words(CHANGES)
GIVES_UP_WORDS = _words(GIVES_UP)
CHANGES_CHARACTERS = _characters(CHANGES_UNSPACED)
KEEPS_CHARACTERS = _characters(KEEPS_UNSPACED)
DOUBTS_CHARACTERS = _characters(DOUBTS_UNSPACED)
