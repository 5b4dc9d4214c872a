#!/usr/bin/env python3
"""Writes tests/golden/bleu.json: sacreBLEU's numbers for tests/bleu_test.cpp.

Needs sacrebleu. Each case has texts, options and the corpus BLEU; "tokens" is what the 13a
tokenizer makes of each line.
"""
import json
import pathlib

from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
CASES = {
    "plain": (["the cat sat on the mat .", "two men walk down a long street"],
              ["the cat is on the mat .", "two men are walking down a street"]),
    "repeats are clipped": (["the the the the the the the a b c d"],
                            ["the cat the dog a b c d sees"]),
    "unicode punctuation": (["„Guten Tag“, sagte er – leise… ¿Qué? 「はい」、そうです。",
                             "l’été à l'île : 20 °C…", "a\u00a0b\u2003c\u3000d e f"],
                            ["“Guten Tag”, sagte er – leise… ¿Qué ? 「はい」、そうです。",
                             "l’été à l’île: 20°C …", "a b c d e f"]),
    "numbers": (["It cost 1,000.50 dollars, or 3.5% of 2-3 million.", "v2.0-beta, 10-20. 5,a .5 6."],
                ["It cost 1,000.50 dollars, or 3,5 % of 2 - 3 million.",
                 "v2.0-beta, 10 - 20. 5, a .5 6 ."]),
    "entities": (["&quot;Fish &amp; chips&quot; &lt;b&gt; &amp;quot; here, now", "a <skipped>b c d e"],
                 ["\"Fish & chips\" <b> &quot; here, now", "a b c d e"]),
    "dots": (["Wait... what?! e.g., U.S. {x}|[y]~`z` @home #1 $5 a/b c\\d _e_ ^f *g+h=i"],
             ["Wait ... what ?! e.g., U.S. {x} | [y] ~ z @home # 1 $5 a / b c\\d _e_ ^f *g + h = i"]),
    "an empty hypothesis": (["", "a small dog runs over the grass"],
                            ["a man sleeps", "a small dog runs over green grass"]),
    "nothing but empty": ([""], ["a man sleeps"]),
    "an empty reference": (["a b c d e", "f"], ["", "f g"]),
    "shorter than four words": (["a man", "two dogs run"], ["a man", "two dogs run"]),
    "too short to score": (["a b"], ["a b"]),
    "no four-gram matches": (["a b c x d e f y g h i"], ["a b c d e f g h i j k"]),
    "no bigram matches": (["a x b y c z d"], ["d c b a e f g"]),
    "no match": (["x y z w"], ["a b c d"]),
    "longer than the reference": (["a man in a red shirt is standing there now"],
                                  ["a man in a red shirt"]),
    "separators": (["a b\x1cc\x1fd\te", "a\u2028b\u0085c d e"], ["a b c d e", "a b c d e"]),
    "case": (["The ÄRZTE met ÉLODIE in ŁÓDŹ, ПРИВЕТ Мир"], ["the ärzte met élodie in łódź, привет мир"]),
}
tokenize = Tokenizer13a()
golden = []
for name, (hypotheses, references) in CASES.items():
    for kind in ["none", "13a"]:
        for lowercase in [False, True]:
            metric = BLEU(tokenize=kind, lowercase=lowercase, force=True)
            golden.append({
                "name": name, "tokenize": kind, "lowercase": lowercase,
                "hypotheses": hypotheses, "references": references,
                "tokens": [tokenize(line) for line in hypotheses + references],
                "bleu": metric.corpus_score(hypotheses, [references]).score,
            })
lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in golden)
(GOLDEN / "bleu.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
