"""Function words and question words that carry no topic.

Own lists, kept to closed word classes. Words that are function words in one language and
names or nouns in technical English or a neighbour language are left out on purpose: Spanish
`son` and `sin`, French `ai`, `car`, `comment`, `mes` and `plus`, German `bin`, `dir`, `hat`,
`man` and `uber`, and the English contractions that read `id`, `ill` and `well`.
"""

from typing import Final

# Apostrophes are already gone: `don't` reaches the index as `dont`.
_ENGLISH = """
a an the this that these those there here
i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers
it its itself they them their theirs themselves
am is are was were be been being do does did doing done have has had having
can could may might must shall should will would ought
im ive youre youve youll weve theyre theyve thats whats lets
dont doesnt didnt isnt arent wasnt werent cant cannot couldnt wont wouldnt shouldnt
havent hasnt hadnt aint mustnt neednt
and or but nor not no if then than so as because since while although though
of in on at by for from to into onto with without within about against between among
during before after via per until upon
what why which when where how who whom whose whether
please tell any some each such many much very too also just ever
etc e.g i.e
"""

_SPANISH = """
el la los las lo un una unos unas de del al a en y o u e que como con por para
se su sus le les me te nos mi mis tu tus yo ella ellos ellas nosotros nuestro nuestra
este esta esto estos estas ese esa eso esos esas aquel aquella
es soy somos eres esta estan estamos estaba ser estar fue fueron era eran
ha he han hemos hay habia no ni si ya muy mas pero porque cuando donde
cual cuales quien quienes cuanto cuanta cuantos cuantas
"""

_GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder aber sondern denn
ich du er sie es wir ihr mich mir dich uns euch ihnen ihm ihn unser unsere unserem unseren
mein meine dein deine sein seine seinen ihre ihren
ist sind war waren wird werden wurde wurden haben habe hatte hatten
kann konnen konnte muss mussen soll sollen nicht kein keine keinen keiner mehr
mit von vom zu zum zur im in an am auf aus bei beim nach vor fur durch um als wie so
was warum wer wen wem wo wann wieso weshalb womit wofur wodurch wohin woher
welche welcher welches welchen welchem dass wenn weil ob da doch noch nur auch
dieser diese dieses diesen diesem
"""

_FRENCH = """
le la les un une des du de et ou que qui quoi dont
je tu il elle on nous vous ils elles moi toi lui leur leurs se ce cet cette ces cela
mon ma ta sa ses notre nos votre vos
est sont etait etaient etre suis sommes etes avons avez ont avait
dans par sur avec sans chez vers au aux ne pas ni mais si donc
pourquoi quand quel quelle quels quelles lequel laquelle combien
"""

# Bigrams, since a run of two or more CJK characters is queried by its bigrams.
_CHINESE_JAPANESE = """
我们 你们 他们 什么 为什 怎么 怎样 哪个 哪些 这个 那个 是否 的是
です ます した して ます から まで こと これ それ どれ どの なに 何が 何を は何 なぜ どう
"""

# Folded (lower case, no accents), not stemmed.
STOP_WORDS: Final = frozenset(
    f"{_ENGLISH} {_SPANISH} {_GERMAN} {_FRENCH} {_CHINESE_JAPANESE}".split()
)
