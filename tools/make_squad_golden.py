#!/usr/bin/env python3
"""Writes tests/golden/squad_answers.json: exact match and F1 of answers for tests/reading_test.cpp.

The rules are those of SQuAD's evaluate-v1.1.py and evaluate-v2.0.py (Rajpurkar et al.), written
anew: lower case, without the marks of string.punctuation, without the words a, an and the, spaces
made one; exact match and F1 of the multiset of words, the best over all truths. They differ where
nothing is left of an answer: by 1.1 it then has no word in common with anything, by 2.0 nothing is
equal to nothing, and truths of which nothing is left do not count.

With arguments FILE OUT, the answers are those of a SQuAD file, each changed at random once, and all
of them are written, one JSON object a line: for a check on thousands.
"""
import collections
import json
import lzma
import pathlib
import random
import re
import string
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"


def words(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1(answer, truth, second):
    if second and (not answer or not truth):
        return float(answer == truth)
    same = sum((collections.Counter(answer) & collections.Counter(truth)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(answer), same / len(truth)
    return (2 * precision * recall) / (precision + recall)


def score(answer, truths, second):
    all_truths = [words(t) for t in truths]
    if second:
        all_truths = [t for t in all_truths if t] or [[]]
    given = words(answer)
    return [float(any(given == t for t in all_truths)), max(f1(given, t, second) for t in all_truths)]


def changed(text, draw):
    """What answers of models look like: parts, neighbours, other marks, articles and spaces."""
    parts = text.split()
    ways = [
        lambda: text,
        lambda: text.upper(),
        lambda: text + draw.choice([".", ",", "!", " ?", "’s", "'s", "…", " "]),
        lambda: draw.choice(["the ", "a ", "An ", "THE ", "\"", "(", "in ", "of the "]) + text,
        lambda: " ".join(parts[: draw.randint(0, len(parts))]),
        lambda: " ".join(parts[draw.randint(0, len(parts)) :]),
        lambda: " ".join(parts + [draw.choice(["city", "1998", "the", "and", "Σίσυφος", "éa"])]),
        lambda: text.replace(" ", draw.choice(["  ", " ", "-", "\t", "_", " the ", "—"])),
        lambda: "".join(c for c in text if draw.random() > 0.1),
        lambda: "",
        lambda: draw.choice(["the", "a an the", "...", "The.", "-", "İstanbul", "ΟΔΟΣ", "a’s"]),
    ]
    return draw.choice(ways)()


TRUTHS = [
    ["Denver Broncos", "Denver Broncos", "The Denver Broncos"],
    ["Carolina Panthers"],
    ["Santa Clara, California", "Levi's Stadium", "Levi's Stadium in Santa Clara, California."],
    ["gold", "\"golden anniversary\"", "gold-themed"],
    ["February 7, 2016", "February 7"],
    ["50", "Super Bowl 50", "L"],
    ["$5 million", "5 million", "US$5,000,000"],
    ["the 1930s", "1930–1939", "an age of the"],
    ["Café Zürich", "CAFÉ ZÜRICH"],
    ["İstanbul", "i̇stanbul"],
    ["ΟΔΟΣ ΣΙΣΥΦΟΣ", "οδος σισυφος"],
    ["中国 北京", "北京"],
    ["a", "the", "an"],
    ["x² + y²", "x2"],
    ["A.D. 476", "AD 476"],
    ["rock 'n' roll", "rock and roll"],
    ["", "..."],
    ["½ of a pound", "Ⅻ century"],
    ["e\u0301tude a\u0301 la", "étude"],
    ["one\u00a0two", "one\u2003two three"],
]


def main():
    draw = random.Random(7)
    if len(sys.argv) == 3:
        name, out = sys.argv[1:]
        with (lzma.open if name.endswith(".xz") else open)(name, "rt", encoding="utf-8") as file:
            data = json.load(file)["data"]
        with open(out, "w", encoding="utf-8") as file:
            for article in data:
                for paragraph in article["paragraphs"]:
                    for qa in paragraph["qas"]:
                        truths = [a["text"] for a in qa["answers"]]
                        start = truths[0] if truths else "nothing at all"
                        answer = changed(start, draw)
                        second = "is_impossible" in qa
                        scores = score(answer, truths, second)
                        json.dump([answer, truths, second, scores], file, ensure_ascii=False)
                        file.write("\n")
        return
    cases = []
    for i in range(200):
        truths = TRUTHS[i % len(TRUTHS)]
        answer = changed(draw.choice(truths), draw)
        second = i % 3 == 0
        given = [] if second and i % 12 == 0 else truths
        cases.append([answer, given, second, score(answer, given, second)])
    with open(GOLDEN / "squad_answers.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
