"""Plain decisions, reasons and indecision: what the words of a clause say outright.

The cues of `cues.py` are many and weak. A clause such as "we picked it" or "because it broke" has
few other words to go by, so its frame is read here: who, a verb of deciding, no doubt before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WHO = _words(
    """
    we i they team management board everyone everybody committee let's we've i've we'll i'll we're i'm
    wir ich vorstand hemos nous j'ai
    """
)
# Told in the past or present, in person or as a participle; `did`, `was` and trials are no verbs
# of deciding.
DECIDES = _words(
    """
    picked chose chosen moved switched replaced dropped adopted decided settled selected swapped
    migrated renamed removed retired cancelled canceled abandoned introduced standardised
    standardized pinned capped raised lowered cut changed converted merged bought hired banned
    disabled enabled replatformed rewrote ported went took set agreed stopped scrapped deprecated
    split reverted restored limited reduced increased extended shortened postponed booked signed
    moving switching replacing dropping adopting migrating
    gewechselt entschieden umgestellt ersetzt abgeschafft gekauft eingeführt gewählt beschlossen
    umgezogen festgelegt genommen gestrichen gekündigt
    elegido decidido cambiado movido adoptado pasado sustituido dejado reemplazado escogido
    choisi décidé remplacé adopté passons utilisons prenons utilise remplaçons abandonné
    """
)
# Of today: what holds where a note begins with it, else as often the state of things.
DECIDES_NOW = DECIDES | _words(
    """
    use pick choose move switch replace drop adopt go going migrate run host store keep deploy pin
    nehmen nutzen verwenden wechseln ziehen stellen setzen ersetzen deployen behalten führen
    """
)
# Spanish, Portuguese and French verbs say who acts by themselves.
DECIDES_ALONE = _words(
    """
    elegimos decidimos cambiamos movemos pasamos dejamos usamos usaremos adoptamos sustituimos
    reemplazamos migramos escogimos acordamos optamos cambiaremos pasaremos moveremos quitamos
    eliminamos contratamos compramos fijamos utilizamos
    escolhemos trocamos mudamos mudámos adotamos adotámos passámos substituímos deixámos
    """
)
# A rule given to the reader.
COMMANDS = _words("use prefer never always let's nunca siempre nie immer nutze verwende")
# What a clause of these is about is not settled by it.
DOUBTS = _words(
    """
    when if as after before while until once whether should would could might may maybe perhaps
    had asks asked suggested proposed considered almost not never didn't haven't hasn't don't won't
    to tried want wants wanted plan plans planned hope hoped wonder why how what who can
    wenn nachdem bevor während bis ob falls hatten hatte könnten sollten würden vielleicht
    nicht wollten als cuando si antes después mientras hasta no podríamos quizá habíamos había
    quand avant après pas pourrait devrait quando depois não
    """
)
# A clause after one of these is the reason for another clause, or what follows from it.
REASONS = _words("because weil porque puisque denn")
REASON_PHRASES = ("due to ", "ya que ", "puesto que ", "debido a ", "parce que ", "wegen ")
FOLLOWS = _words("so therefore hence thus deshalb daher darum")
# At the head of a sentence: the reason comes first, the decision after the comma.
LEADS = ("since ", "as ", "because ", "after ", "da ", "weil ", "nachdem ", "como ", "ya que ")
SO = (
    "so we ",
    "so i ",
    "so the ",
    "so from now",
    "therefore ",
    "deshalb ",
    "daher ",
    "así que ",
    "por eso ",
)
# An attempt, told outright.
TRIES = _words(
    """
    tried considered evaluated compared tested trialled trialed prototyped benchmarked rejected
    probamos evaluamos comparamos consideramos intentamos descartamos getestet geprüft
    """
)
# The connector of a trigger, where it has no other meaning (`since` may tell a time).
CONNECTOR = re.compile(
    r"(?:because(?:\s+of)?|due\s+to|weil|porque|ya\s+que|puesto\s+que|debido\s+a|parce\s+que"
    r"|puisque)\s+",
    re.IGNORECASE,
)
# `Due to the costs we left`: a reason that is no clause by itself.
PREPOSITIONS = _words("due wegen debido")
MIN_WORDS = 2
MAX_BEFORE_WHO, MAX_BEFORE_VERB = 6, 4

# In front of a colon: a clause, not a label.
CLAUSAL = (
    WHO - _words("team board committee management vorstand")
    | DECIDES_ALONE
    | _words(
        """
        you it they he she they've is are was were has have had isn't aren't it's that's will must can cannot can't
        there always never es son está están era eran fue ist sind war waren wird werden hat haben
        est sont était é são foi always never c'est il elle ils
        """
    )
)
# Without one of these a clause need not be looked at.
DECIDING = DECIDES_NOW | DECIDES_ALONE | COMMANDS
# A clause after a label has one of these early.
STATES = (CLAUSAL | DECIDES_NOW | _words("changes moves goes runs uses gets stays happens")) - {
    "set"
}
MIN_STATEMENT = 4
# The statement before the colon announces what comes after it.
ANNOUNCES = _words(
    """
    things ways rules rule points steps this that these changes options follows following decision
    agreed decided new both cosas reglas cambios puntos esto dinge regeln punkte folgendes neu choses règles
    """
)

INDECISION = re.compile(
    r"""
    \b(?:
        nothing\ (?:(?:was|is|has\ been|got)\ )?(?:yet\ |really\ |formally\ )?(?:decided|settled)
      | no\ (?:final\ )?decisions?(?:\ (?:yet|so\ far|was|were|has|have|made|taken|reached|on)\b
          |(?=\s*[.;,:!]|\s*$))
      | not\ (?:yet\ )?(?:been\ )?(?:decided|settled)
      | (?:haven't|hasn't|weren't|wasn't|isn't|never)\ (?:yet\ |been\ )?decided
      | (?:still|all|it's|is|are|remains?)\ undecided | undecided(?=\s*[.;,:!]|\s*$)
      | (?:still\ )?to\ be\ decided | tbd
      | decision\ (?:is\ )?(?:still\ )?(?:pending|postponed|deferred|open)
      | (?:noch\ )?nichts\ (?:\w+\ )?(?:entschieden|beschlossen)
      | (?:noch\ )?keine\ entscheidung | noch\ nicht\ (?:entschieden|beschlossen) | unentschieden
      | entscheidung\ (?:steht\ (?:noch\ )?aus|vertagt)
      | nada\ (?:está\ |fue\ )?decidido | sin\ (?:decisión|decidir)
      | (?:aún|todavía)\ no\ (?:\w+\ ){1,3}decidi\w+ | no\ se\ (?:ha\ decidido|decidió)
      | rien\ (?:n'est\ |n'a\ été\ |de\ )?décidé | pas\ encore\ décidé | aucune\ décision
      | nada\ decidido | sem\ decisão | ainda\ não\ (?:\w+\ ){1,3}decidi\w+
    )\b
    | 还没(?:有)?(?:决|定下) | 尚未决 | 未[决決](?!算) | 没(?:有)?(?:做出?)?决定
    | (?:決まって|決定して|決めて)い?ない | まだ決
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What any of the above contains, to skip the search of nearly every text.
OTHER_HINTS = ("écid", "écisi", "decisão", "决", "決", "定下")


def says_undecided(text: str) -> bool:
    """Tell whether the text says that nothing was decided."""
    folded = text.lower()
    # Written out, as nearly every text holds none of them and need not be searched.
    hinted = "decid" in folded or "ecisi" in folded or "entsch" in folded or "schloss" in folded
    hinted = hinted or "settled" in folded or "tbd" in folded
    if not hinted and not folded.isascii():
        hinted = any(hint in folded for hint in OTHER_HINTS)
    return hinted and INDECISION.search(text) is not None


def is_clausal(words: Sequence[str]) -> bool:
    """Tell whether the words before a colon, in lower case, are a statement, not a label."""
    if words[0] in DOUBTS:
        return False
    if not CLAUSAL.isdisjoint(words):
        return True
    if not WHO.isdisjoint(words[:2]):
        return decides(words[:-1], begins=True)
    return len(words) > MIN_WORDS and (words[0] in COMMANDS or words[0].endswith("ed"))


def is_statement(words: Sequence[str]) -> bool:
    """Tell whether what follows a label is a clause of its own: the label is no part of it."""
    near = words[:MAX_BEFORE_VERB]
    return len(words) >= MIN_STATEMENT and not STATES.isdisjoint(near)


def decides(words: Sequence[str], begins: bool) -> bool:
    """Tell whether a clause of these words, in lower case, says outright what was decided.

    Args:
        words: The words of the clause.
        begins: It is the first of its note, or the first after its reason.
    """
    if DECIDING.isdisjoint(words):
        return False
    if len(words) > MIN_WORDS and words[0] in PREPOSITIONS:
        words = words[2:]
    if len(words) < MIN_WORDS:
        return False
    verbs = DECIDES_NOW if begins or words[0] in FOLLOWS else DECIDES
    if words[0] in COMMANDS or words[0] in DECIDES:
        return True
    for at, word in enumerate(words[:MAX_BEFORE_WHO]):
        if word in DECIDES_ALONE:
            return True
        if word in WHO:
            return _verb_follows(words[at + 1 : at + 1 + MAX_BEFORE_VERB], words, verbs)
        if word in DOUBTS or word in REASONS:
            return False
    return False


def tries(words: Sequence[str]) -> bool:
    """Tell whether a clause begins by telling what was tried or weighed."""
    return not TRIES.isdisjoint(words[:2])


def _verb_follows(near: Sequence[str], words: Sequence[str], verbs: frozenset[str]) -> bool:
    for word in near:
        if word in DOUBTS:
            return False
        if word in verbs:
            return True
    # German puts the participle last: `wir haben uns für Kafka entschieden`.
    return words[-1] in DECIDES and DOUBTS.isdisjoint(words)


def announces(statement: str) -> bool:
    """Tell whether what stands before a colon announces a list or a rule, and needs no reason."""
    return not ANNOUNCES.isdisjoint(statement.casefold().split()[-2:])
