"""Labels that stand in front of a text, and full stops that do not end a sentence."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HEADING_WORDS = {
    "trigger": """
        why, reason, reasons, context, background, problem, motivation, rationale, cause, trigger,
        motivo, motivos, razón, contexto, antecedentes, problema, por qué, causa,
        warum, grund, gründe, kontext, hintergrund, anlass, begründung, ausgangslage, auslöser,
        contexte, raison, pourquoi, motif, constat,
        背景, 原因, 理由, 問題, 问题, 経緯, きっかけ
    """,
    "change": """
        decision, decided, change, changes, what changed, outcome, resolution, resolved, verdict,
        the decision, decision taken, agreed, we decided, solution, new rule,
        decisión, cambio, acuerdo, resolución, se acuerda, solución,
        entscheidung, beschluss, beschlüsse, änderung, entschieden, ergebnis, lösung, neu,
        décision, changement, solution retenue, decisão, mudança,
        决定, 決定, 变更, 変更, 结论, 結論, 決議, 决议, 决策
    """,
    "alternatives_tried": """
        alternatives, alternatives considered, alternatives measured, alternatives tried,
        considered alternatives, options considered, considered, rejected, tried, tried before,
        tried first, attempts, first attempt, also considered, looked at, other options, options,
        alternativas, probado, probado antes, intentos, opciones, descartado, se probó,
        alternativen, vorher versucht, versucht, verworfen, geprüft, optionen, ausprobiert,
        alternatives étudiées, essayé, essais, options étudiées, écarté, alternativas consideradas,
        备选, 备选方案, 替代方案, 试过, 代替案, 検討案, 試したこと, 検討した案
    """,
    "consequences": """
        consequences, consequence, impact, effects, effect, result, results, follow-up, follow-ups,
        next steps, to do, todo, trade-offs, tradeoffs, implications, action, actions, cost, costs,
        consecuencias, consecuencia, efectos, impacto, resultado,
        folgen, konsequenzen, auswirkungen, auswirkung, konsequenz,
        conséquences, conséquence, suites, effets, consequências,
        影响, 影響, 后果, 結果, 结果, 帰結
    """,
    "none": """
        open question, open questions, questions, status, date, author, authors, deciders, links,
        see also, references, offene fragen, preguntas, 待办, 未決
    """,
}
HEADINGS = {
    " ".join(word.split()): role
    for role, words in HEADING_WORDS.items()
    for word in words.split(",")
}

OPENERS = _words(
    # A label with one of these names who speaks or what kind of note it is: not part of the field.
    """
    note notes reminder update correction handoff handover user agent assistant session decision
    decided agreed settled answer owner action rule fyi psa addendum amendment preference says said
    asked told all both team folks branches today monday tuesday wednesday thursday friday env
    notiz nachtrag ergänzung korrektur erinnerung entscheidung nutzer nota aviso recordatorio
    corrección usuario traspaso sesión informe rappel précision utilisateur lembrete
    """
)
ABBREVIATIONS = _words(
    """
    e g i.e e.g etc vs approx ca cf no nr mr mrs ms dr prof st sr sra dra ing dipl inc ltd co corp
    vol fig sec art abs bzw usw ggf evtl inkl exkl str tel resp min max incl est dept jan feb mar
    apr jun jul aug sep sept oct nov dec p pp av núm aprox ej pág mio mrd
    """
)
MONTHS = _words(
    """
    januar februar märz april mai juni juli august september oktober november dezember january
    february march may june july october december enero jänner
    """
)
