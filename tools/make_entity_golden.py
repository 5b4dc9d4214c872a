#!/usr/bin/env python3
"""Writes tests/golden/entities.json: entity counts for tests/label_metrics_test.cpp.

Needs seqeval. Random tags, well-formed or not, are counted twice: as the conlleval script of
CoNLL-2000 does, token by token (ported below; it knows B, I and O), and by seqeval's lists of
entities. Each case is [true tags, predicted tags, [found, predicted, true]].
"""
import json
import pathlib
import random

from seqeval.metrics.sequence_labeling import get_entities

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"


def parts(tag):
    place, _, kind = tag.partition("-")
    return place, kind


def ends(before, tag):
    (p, pt), (t, tt) = before, tag
    return (p, t) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")} or (p != "O" and pt != tt)


def starts(before, tag):
    (p, pt), (t, tt) = before, tag
    return ((p, t) in {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}) or (t != "O" and pt != tt)


def conlleval(truth, predicted):
    found = guessed = correct = 0
    inside = False
    last_c = last_g = ("O", "")
    for c, g in zip(map(parts, truth + ["O"]), map(parts, predicted + ["O"])):
        if inside:
            if ends(last_c, c) and ends(last_g, g) and last_c[1] == last_g[1]:
                inside, correct = False, correct + 1
            elif ends(last_c, c) != ends(last_g, g) or c[1] != g[1]:
                inside = False
        if starts(last_c, c) and starts(last_g, g) and c[1] == g[1]:
            inside = True
        found += starts(last_c, c)
        guessed += starts(last_g, g)
        last_c, last_g = c, g
    return [correct, guessed, found]


def seqeval(truth, predicted):
    a, b = set(get_entities(truth)), set(get_entities(predicted))
    return [len(a & b), len(b), len(a)]


rng = random.Random(5)
cases = []
for places, count in [("BI", 40), ("BIES", 40)]:
    for _ in range(count):
        n = rng.randint(1, 14)

        def draw():
            return "O" if rng.random() < 0.3 else f"{rng.choice(places)}-{rng.choice(['PER', 'LOC'])}"

        truth = [draw() for _ in range(n)]
        predicted = [tag if rng.random() < 0.8 else draw() for tag in truth]
        counts = seqeval(truth, predicted)
        if places == "BI":
            assert counts == conlleval(truth, predicted), (truth, predicted)
        cases.append([truth, predicted, counts])
lines = ",\n".join(json.dumps(case) for case in cases)
(GOLDEN / "entities.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
