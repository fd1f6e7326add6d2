"""What the words of a clause say about its field, by language.

An entry is a word or two neighbouring words, without case; `^` in front means at the start of the
clause, `#` is any number. Most are function words and verbs, never topics. They were picked by hand;
the strengths were then counted on the hand-written notes of this project and rounded to three
steps, which is why a plain `were` is listed: told in the past, it is rarely the decision.
"""

TRIGGER, CHANGE, ALTERNATIVES, CONSEQUENCES, NONE, UNDECIDED = range(6)
STRONG, CLEAR, FAINT = 1.0, 0.6, 0.3

WORDS: tuple[tuple[int, float, str], ...] = (
    # English
    (
        TRIGGER,
        STRONG,
        """
        ^and, anyway, average, broke, came, can't, could, died, finding, found, had, ^it, ^of,
        our, outage, people, ^people, percent, promised, reached, says, showed, ^since,
        somebody, survey, ^the, ^their, there, ^this, took, us, want, wanted, wants, was,
        were, wrong
        """,
    ),
    (
        TRIGGER,
        CLEAR,
        """
        #, ^#, a, ^after, again, already, and, are, around, as, ^as, asked, at, at #, ate,
        audit, auditor, auditors, bad, because, ^because, ^because of, ^but, by #, cannot,
        complain, complained, contract, costs, could not, customer, customers, days,
        different, doesn't, doubled, ^due to, failed, fell, for, four, got, half, has, has no,
        has to, hit, impossible, in, ^in, in #, insists, is, is a, it, keep asking, know,
        last, law, left, like, lost, made, many, month, must, need, ^new, no, nobody, ^nobody,
        not, noticed, now, of, on, on a, one, ^one, ^only, ran, refused, regulator, saw, she,
        someone, something, than, ^thanks to, that, the, the same, their, this, three, ^three,
        tired, to be, too, too many, twice, two, ^two, ^user, users, waiting, we, went, whole,
        ^with, would
        """,
    ),
    (
        TRIGGER,
        FAINT,
        """
        ^a, a month, agreed, all, ^all, ^an, an, and nobody, any, asks, ^at, back, ^both,
        both, by, called, copy, default, did, didn't, each, earlier, euros, every, expensive,
        flaky, ^half, have, have to, hours, i, if, in the, is in, minutes, more, needed, ^no,
        nothing, ^nothing, of the, offered, old, ^or, out, own, pilot, plus, question,
        requires, same, sent, show, since, ^so, stop, support, tell, ^that's, the third, they,
        ^they, to, user, week, weeks, when, which, ^which, will, with, without, without
        warning, would have, written, year
        """,
    ),
    (
        CHANGE,
        STRONG,
        """
        any, are, days, every, ^for, from, goes, instead, is, keep, max, or, plus, remains,
        stays, via
        """,
    ),
    (
        CHANGE,
        CLEAR,
        """
        #, ^#, a, ^a, adopt, all, ^all, always, an, and, ^anything, as, as of, at, at #, at
        most, be, by, carry, chose, come, continues, ^decided, decided to, default, each,
        ^each, ^every, get, gets, go, has, has been, hours, in, ^in, in the, included, inside,
        is a, it, it's, ^keep, keeps, live in, lives in, may, minutes, ^moved, moved to, no,
        ^no, no longer, ^not, nothing, of, ^on, on, ^one, only, opens, own, per, rather than,
        remain, replaces, rest, runs, same, set, set to, since, stands, stay, ^still,
        switched, switched to, than, ^the, the, then, ^there, through, to, to the, ^two,
        unless, use, uses, using, ^we, we, we keep, we moved, whatever, whole, with, with a,
        written, you
        """,
    ),
    (
        CHANGE,
        FAINT,
        """
        above, ^after, agent, ^and, as before, asks, ^both, but, comes from, ^do, does, don't,
        everything, ^first, for, four, ^from, i, if, in #, incident, keeping, last, like,
        month, months, next, not, now, of the, on a, one, our, out, ^plain, replaced by,
        ^second, shows, ^so, swapped, that, ^that's, their, ^then, there, they, ^this, three,
        today, two, unchanged, until, ^user, ^what, when, ^with, without, year
        """,
    ),
    (
        ALTERNATIVES,
        STRONG,
        """
        asked, but, came, considered, didn't, examined, failed, fell, gave, keeping, looked,
        lost, made, offered, our, pilot, proposed, ^raising, ran, spike, too, took, trial,
        tried, us, wanted, was, were, worked, would, would have
        """,
    ),
    (
        ALTERNATIVES,
        CLEAR,
        """
        ^#, a, ^a, a month, ^adding, all, ^an, and, as, ^asked, ^asking, at, at #, ate,
        because, ^because, both, branch, broke, ^buying, by, ^caching, can't, compared, could,
        could not, crashed, days, declined, did, discussed, don't, doubled, ^dropping, exists,
        felt, first, for, found, good, got, had, had a, half, helped, ^i, ^instead of, it,
        ^keeping, kept, lasted, left, ^letting, looked at, measured, months, more, needed,
        nice, no, not, on a, on paper, on the table, one, only, out, people, per, percent,
        piloted, ^polling, priced, prototype, prototyped, quoted, ^rather than, rejected,
        ruled out, said, ^she, spent, ^splitting, still, suggested, tested, the, the agent,
        then, three, two, voted down, waiting, was considered, was tested, ^we, we, weeks,
        were considered, when a, ^which, with, worse, yet
        """,
    ),
    (
        ALTERNATIVES,
        FAINT,
        """
        #, ^agent, an, and nobody, asking, costs, couldn't, existing, four, from, get, has no,
        have, i, idea, in, in the, is, ^it, month, ^moving, nobody, of, on, own, ^plain, plus,
        refused, since, slow, swapped, the user, they, through, to, to the, trialled, ^tried,
        twice, until, we tried, week, ^with, with a, written, wrong, year
        """,
    ),
    (
        CONSEQUENCES,
        STRONG,
        """
        about #, are, becomes, costs, deleted, extra, gets, had to, has to, have to, ^if, is,
        must, need, ^old, removed, rewritten, roughly, such, ^the
        """,
    ),
    (
        CONSEQUENCES,
        CLEAR,
        """
        #, a, added, ^after, ^all, and, ^anyone, archived, are in, ^as, at, at first,
        automatically, back, be, become, by, by #, can, ^do, do not, doubles, each, ^each,
        euros, ^existing, exists, fails, first, for, get, go, goes, has, if, in, in the,
        instead, keep, last, list, may, means, month, more, needs, ^next, note, of, old,
        opens, ordered, people, per, replaced, send, should, shows, so, support, takes, tell,
        the, their, ^therefore, to, to be, to the, told, two, ^two, until, updated, use, week,
        weeks, were, were deleted, ^which, ^which means, will, without
        """,
    ),
    (
        CONSEQUENCES,
        FAINT,
        """
        ^#, ^a, ^about, agent, ^agent, an, ^and, around, as, ask, ^at, at #, because,
        ^because, ^both, both, can't, come, copy, ^costs, days, does, every, ^every,
        everything, existing, from, half, have, hours, i, ^i, in #, is in, it, keeps, later,
        live in, longer, lost, minutes, ^new, no, ^no, no longer, not, now, of the, on, one,
        only, or, percent, ^please, rather than, read only, remain, rfc #, set, show,
        ^someone, stays, that, this, through, ^to, users, was, ^we, when, which, with, ^with,
        years
        """,
    ),
    (
        NONE,
        STRONG,
        """
        adopted, ^adr, adr #, agreed, as, everything else, memo #, note, ^rfc, same, spent,
        told, unaffected
        """,
    ),
    (
        NONE,
        CLEAR,
        """
        #, again, all, and, anyway, as before, asked, both, came, complaint, ^context, could,
        decided, did, different, ^does, don't, draft, ^for, for, found, had, had a, i, in the,
        is, it, ^it, later, like, maybe, no decision, not, not decided, nothing decided, of,
        old, otherwise, own, people, ^please, remain, ^reminder, replaced, rest, rfc #, says,
        she, ^should, so, ^status, stays, still, ^still, suggested, thanks, that, ^the, the,
        the rest, the third, the user, there, they, this, today, tried, unchanged, undecided,
        untouched, user, was, week, were, whether, wonders, worked, wrong
        """,
    ),
    (
        NONE,
        FAINT,
        """
        ^#, a, action, ^after, against, agent, ^and, are, are in, asking, because, ^because,
        ^but, but, by, contract, copy, discussed, discussion, every, from, go, got, ^he, here,
        if, ^if, in, ^in, incident, is a, it's, lasted, list, longer, made, may, ^meeting,
        minutes, must, next, nothing, of the, on, ^one, only, ^or, our, picked, said, ^second,
        set, should, since, ^since, ^so, ^some, somebody, stay, stop, takes, tell, the agent,
        the same, ^their, then, ^then, ^there, to, to be, to the, two, use, ^user, via, ^what,
        with, would, yet, you
        """,
    ),
    # Spanish
    (
        TRIGGER,
        CLEAR,
        """
        caía, costaba, ^debido a, demasiado, ^el, ^en, era, eran, fallaba, fallaban, había,
        hubo, la, llegaban, nadie, pedía, perdimos, perdía, piden, ^porque, previsto, ^puesto
        que, que, quería, quiere, quieren, se quejaban, tardaba, tres, ^ya que
        """,
    ),
    (TRIGGER, FAINT, "cada vez, con, de, el, ^la, ^los, meses, no pasó, ^se, un, veces"),
    (CHANGE, STRONG, "con, seguimos"),
    (
        CHANGE,
        CLEAR,
        """
        acordamos, ahora, antes, cada, cambiamos, de, decidimos, dejamos, elegimos, ^en, en
        lugar, en vez, hacemos, ^la, los, movemos, pasamos, pasan, quedan, se, se acuerda, se
        hace, se hacen, se usa, sustituye, usamos, usaremos, va, ^ya
        """,
    ),
    (CHANGE, FAINT, "^el, el, la, las, ^las, ^se"),
    (
        ALTERNATIVES,
        CLEAR,
        """
        con, descartado, descartamos, habría, intentamos, la, miramos, miré, nadie, ofrecía,
        pero, probamos, probé, propuso, se estudió, se probó, se propuso, se valoró, sería, un
        """,
    ),
    (ALTERNATIVES, FAINT, "el, ^se, se, ^un"),
    (
        CONSEQUENCES,
        CLEAR,
        """
        borra, borramos, cuesta, debe, deben, el, habrá, hace falta, ^hay, ^la, ^los,
        necesita, puede, pueden, quedó, se encarga, se puede, tiene que, tienen que
        """,
    ),
    (CONSEQUENCES, FAINT, "cada, de, falta, ^las, que, se, ^si, un"),
    (NONE, CLEAR, "lo mismo, ^ojo, pregunta, ^propuesta, quizá, sin cambios, tal vez"),
    (NONE, FAINT, "^como, ^con, de, ^el"),
    # German
    (TRIGGER, STRONG, "hat"),
    (
        TRIGGER,
        CLEAR,
        """
        ab, bei, beschwert, dauerte, ^denn, der, ^die, fiel, fielen, hatte, hatten, ist, kam,
        kamen, kein, keiner, kostete, ^nach, niemand, sich, verlangt, war, waren, ^wegen,
        ^weil, wollen, wollte, zu langsam, zu teuer
        """,
    ),
    (TRIGGER, FAINT, "auf, ^bei, ^das, die, nicht, standen, und, zu, zwei"),
    (CHANGE, STRONG, "wird"),
    (
        CHANGE,
        CLEAR,
        """
        ab, ab sofort, alle, auf, bei, bleibt, gilt, je, jede, jeder, künftig, mit, nehmen,
        nutzen, stellen, uhr, und, verwalten, verwenden, wechseln, werden, wir, über
        """,
    ),
    (CHANGE, FAINT, "bleiben, die, läuft, nur"),
    (ALTERNATIVES, STRONG, "hätte, wurde"),
    (
        ALTERNATIVES,
        CLEAR,
        """
        aber, angesehen, ausprobiert, brachte, ^ein, eine, geprüft, getestet, haben, hätten,
        keine, nicht, probiert, versucht, verworfen, wäre, zu, zwei, überlegt
        """,
    ),
    (ALTERNATIVES, FAINT, "die, ein, war, über"),
    (
        CONSEQUENCES,
        CLEAR,
        """
        ^alte, ^bestehende, ^bitte, ^dafür, ^die, folgen, fällt, ist, kann, kosten, kostet,
        können, muss, müssen, sinkt, steigt, und, ^wer, werden, wird
        """,
    ),
    (CONSEQUENCES, FAINT, "ab, auf, bekommt, der, ^der, gelöscht, nur noch, uhr, vorher, wir"),
    (NONE, CLEAR, "^frage, fragt, mit, ob, offen, unverändert, vielleicht, wie bisher"),
    (NONE, FAINT, "^der, die, gilt, ^nach, nicht"),
    # French and Portuguese
    (
        TRIGGER,
        CLEAR,
        """
        avait, demorava, estava, ^le, le, ninguém, ^o, ^parce que, ^pois, ^puisque, queria,
        tombait, trop, étaient, était
        """,
    ),
    (TRIGGER, FAINT, "les"),
    (
        CHANGE,
        CLEAR,
        """
        agora, au lieu, désormais, fica, le, ^os, passamos, passe, passons, remplace, utilise,
        utilisons
        """,
    ),
    (CHANGE, FAINT, "^une"),
    (
        ALTERNATIVES,
        CLEAR,
        """
        aurait, envisagé, essayé, experimentei, experimentou, experimentámos, le, les, testei,
        testámos, testé, écarté, été
        """,
    ),
    (ALTERNATIVES, FAINT, "personne"),
    (
        CONSEQUENCES,
        CLEAR,
        """
        ^car, coûte, custa, doit, doivent, les, ^les anciens, peut, pode, podem, tem de, têm
        de, é preciso
        """,
    ),
    (NONE, CLEAR, "demande, ^le, pergunta, peut-être, ^proposition, talvez"),
    (NONE, FAINT, "reste"),
)

# What makes a whole note a question, a plan or a report (below zero: a decision after all).
UNDECIDED_WORDS: tuple[tuple[float, str], ...] = (
    (
        STRONG,
        """
        action, ^anyone, asked if, asks, asks if, because, could we, demande, failed, for
        discussion, fragt, good, ^idea, know if, look into, maybe, might, no answer, no
        decision, nobody assigned, not accepted, not decided, nothing decided, ob, open
        question, pergunta, peut-être, pregunta, ^proposal, proposes, propuesta, quizá,
        replaced, saw, should we, someone, swapped, swears by, tal vez, talvez, thinking
        about, to be discussed, undecided, vielleicht, vorschlag, wants to, wants to know,
        whether, will, wonders
        """,
    ),
    (
        CLEAR,
        """
        again, agenda, asked, deberíamos, devrait, ^does, found, he, idea, if, intend,
        intends, last week, maybe, next, next week, ^no, no action, not, ^nothing, nothing,
        noticed, ont, plan to, podríamos, sent, ^should, should, si, soll, sollten, some,
        suggest, suggests, thinking, war, went, would
        """,
    ),
    (
        FAINT,
        """
        at, back, changed, did, discussion, do, draft, el, ^for, gave, had, had to, his,
        hours, i, in, it, lost, minutes, moved, on a, or, ^or, ^please, que, she, swears by,
        the, their, ^they, they, this, took, were
        """,
    ),
    (
        -FAINT,
        """
        above, against, and, ^and, any, as, but, can't, deleted, der, first, ^in, instead,
        it's, keep, keeps, ^los, month, more, need, no, people, remains, rest, same, se, ^so,
        stay, ^the, two, want, written
        """,
    ),
    (
        -CLEAR,
        """
        both, cada, can, get, gets, go, is, list, los, must, per, replaced by, stays, than,
        through, too, tried, use
        """,
    ),
    (-STRONG, "a month, are, each, every, only, ^still, via"),
)

# Chinese and Japanese are written without blanks: these are looked for anywhere in the clause. Few cues to a
# clause, so each counts double.
CHARACTERS: tuple[tuple[int, float, str], ...] = (
    (TRIGGER, 2 * STRONG, "因为 由于 ため ので という声 苦情 指摘 投诉 反馈"),
    (
        TRIGGER,
        2 * CLEAR,
        "太慢 超时 总是 老是 没人 不够 出错 失败 丢了 ていた なかった かかって 遅い 間に合わ 誰も 客户 要求 次",
    ),
    (
        CHANGE,
        2 * STRONG,
        "改用 改为 改成 换成 迁移到 决定 統一 に変更 に切り替え に移行 にした ことにした に戻した 統一する",
    ),
    (
        CHANGE,
        2 * CLEAR,
        "使用 采用 用的是 一律 走 都 每 放在 使う 使用する とする にする で管理 で行う 毎 は 続ける のまま 现在",
    ),
    (
        ALTERNATIVES,
        2 * STRONG,
        "试过 考虑过 比较过 看过 试了 評估 评估过 試した も試し 検討した 検討したが 見送 比較した 不行 没采用 否决",
    ),
    (ALTERNATIVES, 2 * CLEAR, "但 が、 だった 报价 原想 案も"),
    (CONSEQUENCES, 2 * STRONG, "必须 需要 必要 なければ 要改 影响 影響 こと。 てください"),
    (
        CONSEQUENCES,
        2 * CLEAR,
        "多花 少 删 旧 古い 削除 廃止 費用 每月 自动 不用 不能 可以 できる 増え 減 済み まで",
    ),
    (UNDECIDED, STRONG, "吗 でしょうか 质疑 会不会 要不要 能不能 かも 建议 提案 検討中 考えて"),
    (NONE, 2 * STRONG, "\uff1f 吗 か。 でしょうか 问 質問 聞い 会不会 要不要 能不能"),
    (NONE, 2 * CLEAR, "也许 建议 提案 かも 下周 下季度 来週 来月 予定 不变 变更なし"),
)
