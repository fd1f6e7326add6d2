"""What a speaker says outright in a conversation: the words of a decision, and of what is none.

A note is written to be kept, a turn of a conversation is not: it mostly asks, tries things out and
tells of trouble. So these patterns look for who decides together with how, and what speaks against
it always wins. A decision that is missed can be told again; a wrong one is noise for ever.
"""

from __future__ import annotations

import re

Patterns = tuple[tuple[float, re.Pattern[str]], ...]

_OUR_SIDE = r"\b(?:we|i|(?:the|our)\ (?:team|board|committee|management)|management)"
_OURSELVES = r"\b(?:we|(?:the|our)\ (?:team|board|committee|management)|management)"
_HAVING = (
    r"(?:'ve|\ have|\ has)?(?:\ (?:all|just|now|finally|also|then|both|already|therefore)\b){0,2}"
)
_HABITS = (
    r"(?:use|deploy|ship|merge|store|write|commit|release|accept|allow|log|keep|run|test|review|"
    r"squash|rebase|pin|format|name|send|delete|eat|drink|work|fly|host|support|invoice|pay|order)"
)
_ROUTINES = r"(?:use|host|store|deploy|pin|ship)"
_LASTING = r"(?:instead\ of|rather\ than|everywhere|exclusively|by\ default|for\ (?:all|every|new))"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


_ENGLISH = (
    (
        0.9,
        rf"""{_OUR_SIDE}{_HAVING}\ (?:chose|chosen|picked(?!\ (?:up|the\ wrong)\b)|opted|adopted(?!\ an?\b)
        |decided(?!\ (?:yet|to\ (?:ask|try|write|check|look|take|come|post|call|google|see))\b)
        |went\ with(?!\ (?:my|him|her|them|friends|the\ kids)\b)
        |settled\ (?:on|for)|(?<!\bi\ )agreed(?!\ to\ disagree)(?=\ (?:to|on|that|not|with\ [^.;]{{2,40}}\ that)\b)|standardi[sz]ed)\b""",
    ),
    (
        0.85,
        rf"""{_OURSELVES}{_HAVING}\ (?:
        (?:switched|moved|migrated|changed|went\ back|returned)\ (?!on\b)(?:[^\s.;]+\ ){{0,6}}(?:to|off|away)\b
        |(?:replaced|dropped|retired|abandoned|deprecated|scrapped|banned|ditched|swapped)\b)""",
    ),
    (
        0.85,
        r"""\b(?:we're|we\ are|i'm|i\ am)\ (?:now\ |also\ )?(?:going\ (?:with(?!\ (?:my|him|her|them|you|friends)\b)|back\ to)|sticking\ (?:with|to)
        |staying\ (?:with|on)|moving\ (?:to|off|away\ from)|switching\ (?:to|from|back)|dropping|replacing
        |retiring|standardi[sz]ing|adopting|migrating)\b""",
    ),
    (
        0.85,
        r"""\b(?:we'll|we\ will|i'll|i\ will|let's)\ (?:(?:only|now|just|always|never)\ )?(?:fly|eat|pay|work|use(?!\ (?:this|that|it|your|the\ time)\b)
        |(?<!i'll\ )(?<!i\ will\ )go\ back\ to|go\ with|stick\ (?:with|to)|stay\ (?:with|on)|keep\ using|switch\ to|keep(?!\ (?:\w+ing|you|it|that|this)\b)|adopt|drop)\b""",
    ),
    (
        0.85,
        rf"""\b(?:we|i)\ (?:always|never|only|exclusively|no\ longer)\ {_HABITS}\b
        |\b(?:we|i)\ (?:stopped|quit)\ using\b
        |\b(?:we|i)\ (?:don't|do\ not|won't|will\ not)\ {_HABITS}\b[^.;]*\bany\s?(?:more|longer)\b
        |\b(?:we|i)(?:'re|'m|\ are|\ am)\ (?:no\ longer\ \w+ing\b|not\ \w+ing\b[^.;]*\bany\s?(?:more|longer)\b)
        |\bi\ (?:don't|do\ not|never)\ (?:eat|drink|smoke|fly)\b""",
    ),
    (0.85, rf"\bwe\ (?:now\ {_ROUTINES}\b|{_ROUTINES}\b[^.;]*\b{_LASTING}\b)"),
    (
        0.85,
        r"""\b(?:i|we)\ (?:(?:strongly|really|generally|always|usually|much|both)\ )?prefer\b
        (?!\ (?:the\ (?:first|second|third|former|latter|other|last)|this|that)\b)
        |\bmy\ (?:preference|preferred\ \w+)\ (?:is|are)\b
        |\bi'?\s?a?m\ (?:a\ )?(?:vegan|vegetarian|allergic)\b
        |\bi\ (?:like|want)\ (?:(?:my|your|all|the|short|brief|concise|long|detailed)\ ){1,3}
            (?:answers|replies|responses|explanations|summaries)\b
        |\bcall\ me\ (?-i:[A-Z])
        |^(?:please,?\ )?(?:remember|note|keep\ in\ mind)\ that\ (?:i|we)\b(?!\ (?:talked|spoke|discussed|had|need))
        |^(?:please\ )?(?:don't|do\ not)\ ever\b|,\ always\s?[.!]?$""",
    ),
    (
        0.85,
        r"""^(?:(?:please|and|so|also|okay|ok|but),?\ )*(?:
        always\ (?!an?\b|wondered|wanted|had|been|thought|the\b|gets?\b|getting|fail|return|happen)
        |never\ (?!mind|seen|heard|had|been|thought|tried|used|got|knew|worked|again|happened|ever))\w""",
    ),
    (
        0.9,
        r"""\b(?:from\ now\ on|going\ forward|henceforth)\b
        |\bfrom\ (?:today|tomorrow|next\ \w+|\w+day)\ on(?:wards?)?\b""",
    ),
    (
        0.9,
        r"""^(?:(?:okay|ok|so),?\ )?(?:(?:team\ |final\ |our\ |the\ )?decision|final\ answer|decided|agreed|(?:new\ |our\ |house\ |ground\ )?rule
        |(?:user\ |my\ |our\ )?preference|(?:our\ |new\ )?(?:policy|convention))\s?:\s
        (?!pending|tbd|none|open|unclear)""",
    ),
    (
        0.85,
        r"""\b(?:our|my|the\ new)\ (?:new\ )?(?:rule|policy|convention|decision|standard)\ (?:is|stays|remains)\b
        (?!\ (?:there|what|unclear|wrong|why|still|pending|bad|not))""",
    ),
    (
        0.8,
        r"""^(?:(?:so|ok|okay|and|also|update|fyi)[,:]?\ )*(?:(?:moved|switched|migrated|replaced)\ (?!on\b)(?:[^\s.;]+\ ){1,8}(?:to|with)\b
        |(?:switched|moved|migrated)\ (?:to|off)\b
        |(?:decided|picked|chose|agreed|settled|adopted)\ (?:to|on|that|against|for|[A-Z0-9])
        |(?:cancelled|retired|abandoned|scrapped)\ )""",
    ),
    (
        0.8,
        r"(?-i:\b[A-Z][\w.]*(?:\ \d[\d.]*)?\ (?:replaces|ersetzt|sustituye\ a|reemplaza\ a)\ [A-Z])",
    ),
    (
        0.85,
        r"\bwe\ (?:keep(?!\ \w+ing\b)|carry\ on\ with|go\ on\ with|stay\ (?:with|on)|stick\ (?:with|to)|go\ with)\ (?!(?:getting|having|seeing|asking|running|hitting)\b)",
    ),
    (0.85, r"\bit\ (?:was|has\ been|is)\ (?:decided|agreed)\ (?:that|to)\b"),
)
_GERMAN = (
    (
        0.9,
        r"""\b(?:wir|ich|vorstand|das\ team)\b[^.,;:]{0,80}?\b(?:entschieden|beschlossen|festgelegt|geeinigt|umgestiegen
        |umgestellt|abgeschafft|umgezogen)\b""",
    ),
    (
        0.85,
        r"""\b(?:haben|sind)\ wir\b[^.,;:]{0,80}?\b(?:entschieden|beschlossen|festgelegt|geeinigt|umgestiegen|umgestellt
        |abgeschafft|abgeschaltet|ersetzt|gekündigt)\b""",
    ),
    (
        0.85,
        r"""\bwir\ (?:haben|sind)\b[^.,;:]{0,80}?(?:\b(?:ersetzt|gewählt|gestrichen|gekündigt)|\b(?:zu|zum|zur|auf|von)\ [^.,;:]{1,40}\ gewechselt)\b
        |\bwir\ (?:wechseln|steigen)\b[^;:]{0,60}?\b(?:zu|auf|um)\b
        |\bwir\ bleiben\ (?:bei|beim)\b""",
    ),
    (0.9, r"\b(?:ab\ (?:sofort|jetzt|heute)|von\ nun\ an|künftig|in\ zukunft|zukünftig)\b"),
    (
        0.85,
        r"""\bich\ (?:bevorzuge|ziehe\b[^.;:]*\bvor\b|mag\ lieber|möchte\ (?:immer|grundsätzlich|nie)\b)
        |\bmir\ (?:ist|sind)\b[^.;:]{0,60}\blieber\b
        |\bich\ bin\ (?:veganer|vegetarier|allergisch)""",
    ),
    (
        0.85,
        r"^(?:bitte\ )?(?:immer|nie|niemals)\ (?!wieder\b|noch\b|mehr\b|gehört|gesehen|dasselbe|das\ gleiche|wenn)\w",
    ),
    (
        0.85,
        r"\b(?:wir|ich)\ (?:nutzen?|verwenden?|nehmen?|setzen?|esse|trinke)\b[^.;:]*\b(?:nur\ noch|immer|nie|nicht\ mehr|statt|kein)",
    ),
    (
        0.85,
        r"""\bwir\ (?:machen|nutzen|verwenden|akzeptieren|liefern|unterstützen)\ kein\w*\b[^.;]*\bmehr\b
        |\b(?:schreiben|nutzen|verwenden|machen|deployen|liefern)\ wir\ (?:immer|nie|nur|ausschließlich)\b""",
    ),
    (
        0.9,
        r"^(?:entscheidung|beschluss|entschieden|beschlossen|(?:neue\ )?regel)\s?:\s(?!offen|keine|noch)",
    ),
    (
        0.8,
        r"^(?:alle|jede[rs]?|neue|niemand|keine?r?)\ (?!muss\b)[^,;:]{2,80}?\b(?:müssen|muss|dürfen|darf)\b",
    ),
    (0.85, r"\bes\ (?:wurde|ist)\ (?:beschlossen|entschieden|vereinbart)\b"),
)
_SPANISH = (
    (
        0.9,
        r"""(?<!\bno\ )\b(?:hemos|he)\ (?:decidido|elegido|acordado|optado|adoptado|pasado\ (?:a|de)\ (?!\w+r\b)|cambiado\ (?:a|de|(?:\S+\ ){1,4}por)\b
        |sustituido|reemplazado|abandonado|migrado)\b""",
    ),
    (
        0.9,
        r"""(?<!\bno\ )\b(?:decidimos|elegimos|acordamos|optamos\ por|escogimos|adoptamos|sustituimos|reemplazamos
        |(?:el\ equipo|la\ junta|la\ dirección)\ (?:decidió|acordó|eligió)|nos\ pasamos\ a|cambiamos\ (?:a|de)|migramos\ a|nos\ quedamos\ con|dejamos\ de|seguimos\ con)\b""",
    ),
    (
        0.85,
        r"\b(?:usaremos|utilizaremos|adoptaremos|ya\ no\ (?:usamos|uso|utilizamos|aceptamos|comemos|como))\b",
    ),
    (0.9, r"\b(?:a\ partir\ de\ (?:ahora|hoy|mañana)|de\ ahora\ en\ adelante|desde\ ahora)\b"),
    (
        0.85,
        r"\b(?:prefiero|preferimos)\b(?!\ (?:el|la)\ (?:primer|segund|otr))|\bsoy\ (?:vegan|vegetarian|alérgic)",
    ),
    (
        0.85,
        r"^(?:por\ favor,?\ )?(?:siempre|nunca)\ (?!he\b|había|l[oa]s?\b|me\b|se\b|recib|tuv|v[ie]mos|supimos|falla|ha\b|hemos|que\b)\w",
    ),
    (
        0.85,
        r"\b(?:siempre|nunca|solo|sólo)\ (?:usamos|uso|desplegamos|aceptamos|escribimos|comemos|pagamos)\b",
    ),
    (0.9, r"^(?:decisión|acuerdo|(?:nueva\ )?regla|norma|preferencia)\s?:\s(?!pendiente|ninguna)"),
    (
        0.8,
        r"^(?:todos|todas|cada|ningún|ninguna|nadie)\ [^,;:]{2,80}?\b(?:deben?|tienen?\ que|puede[n]?)\b",
    ),
    (
        0.85,
        r"""^(?:(?:por\ eso|así\ que|al\ final|finalmente),?\ )?(?:dejamos|movemos|cambiamos|quitamos|eliminamos|contratamos|fijamos)
        \ (?!(?:todo|algo)\b)""",
    ),
    (
        0.85,
        r"\bquiero\ que\ (?:siempre|nunca)\b|\bya\ está\ decidido\b|\bnunca\ más\b|\bes\ la\ nueva\ (?:norma|regla)\b",
    ),
    (0.85, r"\bse\ (?:acordó|decidió|ha\ decidido|ha\ acordado)\b"),
)
_OTHERS = (
    (
        0.85,
        r"""\b(?:nous\ avons|on\ a)\ (?:décidé|choisi|adopté|opté|remplacé|abandonné)\b|\bje\ préfère\b
        |\b(?:désormais|dorénavant|à\ partir\ de\ maintenant)\b""",
    ),
    (
        0.85,
        r"\b(?:escolhemos|adotamos|trocamos|prefiro|a\ partir\ de\ agora|de\ agora\ em\ diante)\b",
    ),
    (
        0.85,
        r"我们(?:已经|最后|最终)?(?:决定|改用|选择了|选了)|从现在起|以后(?:都|一律)|今后(?:都|一律)",
    ),
    (
        0.85,
        r"こと(?:に|と)(?:した|しました|決めた|決めました|なりました)|に決め(?:た|ました)|今後は",
    ),
)
DECISIONS: Patterns = tuple(
    (confidence, _pattern(text)) for confidence, text in (*_ENGLISH, *_GERMAN, *_SPANISH, *_OTHERS)
)
"""Decisions, rules and preferences, each with the confidence that it is one."""

ROUTINES: Patterns = (
    (
        0.8,
        _pattern(r"""^(?:all|every|each|no|new|only|nobody|everyone|any)\ (?!time|i\b|you\b|we\b|one\b)[^,;:]{2,80}?
        \ (?:must|may\ (?:not|only|be\ \w+\ without)|shall|needs?\ to|(?:is|are)\ (?:not\ )?allowed|(?:is|are)\ forbidden)\b
        |\bmust\ (?:always|never)\b|\b(?:may|must)\ only\ be\b"""),
    ),
    (0.6, _pattern(rf"^(?:(?:in|for|on|at)\ [^,]{{2,40}},?\ )?we\ {_ROUTINES}\b")),
    (0.6, _pattern(r"^wir\ (?:nutzen|verwenden|setzen|betreiben|deployen)\b")),
    (0.6, _pattern(r"^(?:(?:en|para)\ [^,]{2,40},?\ )?(?:usamos|utilizamos|desplegamos)\b")),
)
"""Rules and ways; told as background of a request as often as for their own sake."""

DOUBTS = _pattern(
    r"""
    \b(?:quiz|exam|chess|intend\w*|if|whether|when(?:ever)?|suppose|supposing|imagine|assum(?:e|ing)|pretend|unless|until|once|before|while|as\ soon\ as|
    should|would|could|might|maybe|perhaps|probably|possibly|may|(?:we|i|they)'d|considering|thinking|thought|tempted|leaning|
    planning|plans?\ to|wants?\ to|wanted|hop(?:e|ing)|wish|wonder\w*|propos\w+|suggest\w*|idea|drafts?|options?|not\ sure|unsure|
    don't\ know|forgot|remind\ me|example|e\.g\.|story|novel|character|article|blog|tutorial|book|hasn't|haven't|never\ really|why|how|what|
    (?:he|she|they|it|boss|manager|colleague|friend|docs?|customer|client|vendor|who|someone|somebody|people|which)\ (?:\w+\ )?
        (?:said|says?|told|claims?|claimed|thinks?|wrote|writes|insists?|argues?|asked|asks|recommends?|believes?)|
    according\ to|supposedly|apparently|allegedly|rumou?rs?|heard|read|
    wenn|falls|ob|vielleicht|könnten?|sollten?|würden?|angenommen|überleg\w*|wollen|will|wollte[n]?|möchten?|warum|wie|laut|angeblich|sagt|sagte|meint|meinte|schreibt|bevor|sobald|
    quizás?|tal\ vez|podríamos|deberíamos|supongamos|imagina|pensando|queremos|quería\w*|según|dice\w*|dijo|cuando|antes\ de|por\ qué|cómo|
    peut-être|devrait|pourrait|quand|talvez|quando)\b
    | (?:^|[\s,(])si\b | 如果 | 也许 | 要不要 | 考虑 | 建议 | かも | 検討
    """
)
"""In front of a decision: it is supposed, planned, or told by somebody else."""

HEDGES = _pattern(
    r"""
    \b(?:not\ (?:yet\ )?(?:final|sure|certain)|if\ i\ (?:remember|recall)|i\ (?:think|guess|believe|suppose)|right\?|or\ something|i\ forget|
    originally|initially|at\ first|back\ then|back\ in\ \d+|used\ to|previously|formerly|in\ the\ past|years\ ago|at\ my\ (?:old|previous|last)|
    (?:previous|old|former)\ (?:job|company|employer)|for\ now|for\ fun|this\ time|just\ this\ once|today\ only|hypothetical\w*|
    for\ (?:lunch|dinner|breakfast|the\ movie)|
    glaube\ ich|ich\ glaube|ursprünglich|anfangs|früher|damals|diesmal|nur\ heute|hypothetisch|
    creo\ que|al\ principio|originalmente|antes\ usábamos|esta\ vez|solo\ hoy|hipot\w+)\b
    | \?
    """
)
"""Anywhere in a sentence: it holds no longer, for once only, or is not quite known."""

TROUBLE = _pattern(
    r"""
    \b(?:and|but|now|yet|still|keeps?|aber|und|jetzt|pero|ahora|y)\b[^.,;]{0,60}
    \b(?:errors?|fail\w*|crash\w*|exceptions?|traceback|broken|breaks?|stuck|doesn't|does\ not|can't|cannot|won't|not\ working|hangs?|
    times?\ out|bug|missing|undefined|fehler\w*|geht\ nicht|funktioniert|falla\w*|no\ funciona)\b
    | \b(?:is|it's|was)\ (?:a\ bug|wrong|the\ problem)\b | \b(?:nothing\ happens|no\ output)\b
    | \b(?:traceback|stack\ trace|segfault|keyerror|typeerror|valueerror|exit\ code)\b
    """
)
"""What was done is told for the trouble that came of it."""

_ASKED = (
    r"(?:write|fix|play|add|show|explain|give|help|make|create|generate|tell|update|refactor|implement|check|look|find|run|do|review|"
    r"rename|translate|summari[sz]e|rewrite|proofread|draft|list|compare|convert|describe|suggest|analy[sz]e|continue|try|search|"
    r"read|open|plot|calculate|compute|debug|optimi[sz]e|improve|format|correct|answer|imagine|pretend|act|build|design|plan|remind|"
    r"schreib\w*|erklär\w*|zeig\w*|gib|hilf|übersetz\w*|fass\w*|mach\w*|prüf\w*|such\w*|nenn\w*|erstell\w*|korrigier\w*|"
    r"escribe|explica\w*|muestra\w*|dame|dime|ayúda\w*|traduce|resume|haz|crea|genera|busca|revisa|corrige|arregla|"
    r"écris|explique|montre|donne|aide|traduis|escreva|explique|traduza)"
)
REQUEST = _pattern(
    rf"""
    ^(?:(?:hi|hello|hey|ok|okay|so|now|then|and|also|please|bitte|jetzt|dann|por\ favor|ahora|great|thanks),?\ )*
    (?:{_ASKED}\b|(?:can|could|would|will)\ (?:you|we|i|someone)\b|i\ (?:need|want|would\ like|'d\ like)\ (?:you|to|a|help)\b|let\ me\b
    |(?:kannst|könntest|würdest)\ du\b|(?:können|könnten)\ (?:sie|wir)\b|(?:puedes|podrías|puede)\b|hilf)
    """
)
"""The sentence asks for something to be done."""

QUESTION = _pattern(
    r"""
    [?\uff1f] | [吗呢]\s*[。.]?$ | か[。.]?$
    | ^(?:(?:and|so|but|ok|also|und|y|also),?\ )*(?:what|why|how|which|who|whose|where|when|did|do|does|should|shall|is|are|was|were|has|have|had|am|
        was|warum|wieso|wie|wer|welche[rsn]?|wo|wann|sollten?|soll|haben|hat|ist|sind|hatten|qué|por\ qué|cómo|quién|cuál\w*|dónde|cuándo|
        any\ idea|pourquoi|comment)\b(?!\ wir\ uns)
    """
)
"""The sentence asks something, with or without its mark."""

COURTESY = _pattern(
    r"""
    ^(?:
        (?:hi|hello|hey|thanks|thank\ you|thx|cheers|good\ (?:morning|evening|afternoon)|hallo|danke|guten\ (?:morgen|tag|abend)
        |servus|moin|hola|gracias|muchas\ gracias|buen[oa]s\ (?:días|tardes|noches)|saludos)\b(?:,?\ [^\s.!:]+){0,3}
        |ok|okay|yes|no|great|perfect|sorry|ja|nein|super|sí|vale|perfecto
    )\s?[.!,]*$
    """
)
"""A greeting, thanks, a plain yes or no."""

RETRACTS = _pattern(
    r"""
    \b(?:just\ kidding|j/k|scratch\ that|never\s?mind|forget\ (?:that|it)|not\ final|nothing\ is\ final|war\ (?:nur\ )?(?:ein\ )?(?:witz|scherz)|
    vergiss\ (?:das|es)|es\ broma|era\ broma|olvídalo|olvida\ eso)\b
    """
)
"""What was said around it is taken back."""

MATERIAL = _pattern(
    r"""
    \b(?:e-?mails?|message|article|transcript|text|logs?|output|error|quote|paragraph|essay|letter|post|thread|abstract|chat|minutes|
    wrote|writes|says|said|response|reply|answer|story|statement|sentence|example|
    nachricht|artikel|protokoll|schrieb|schreibt|absatz|satz|brief|correo|mensaje|artículo|texto|acta|frase|escribió|dice|dijo)\b[^:]*:\s*$
    """
)
"""The line hands over something that somebody wrote; what follows it is no statement of the speaker."""

ASKS_BESIDE = _pattern(
    rf"\b(?:please|bitte|por\ favor)\ {_ASKED}\b|\b(?:need|want)\ (?:you|help)\b"
)
"""A request within another sentence."""

DENIED = _pattern(r"\bnichts?\b(?!\ mehr)")
"""Inside a German decision: the participle comes last, and what denies it before it."""
