#!/usr/bin/env python3
"""BLEU-1..4 and CIDEr-D of a few captions, counted independently of the library: writes
tests/golden/captions.json. Written after the definitions of Papineni et al. 2002 and Vedantam et al.
2015 (CIDEr-D: clipped, with the Gaussian of lengths, sigma 6, times 10), with nothing but Python."""
import collections
import json
import math
import os
import random

COLOURS = "red green blue yellow".split()
THINGS = "circle square dog cat tree house".split()
VERBS = "runs sits stands sleeps".split()


def sentence(r):
    words = ["a", r.choice(COLOURS), r.choice(THINGS), r.choice(VERBS)]
    if r.random() < 0.7:
        words += ["near", "the", r.choice(COLOURS), r.choice(THINGS)]
    if r.random() < 0.3:
        words += ["and", r.choice(VERBS)]
    return words


def changed(words, r):
    words = list(words)
    for _ in range(r.randrange(4)):
        at = r.randrange(len(words))
        what = r.random()
        if what < 0.4:
            words[at] = r.choice(COLOURS + THINGS + VERBS)
        elif what < 0.7 and len(words) > 1:
            del words[at]
        else:
            words.insert(at, words[at])
    return words


def grams(words, n):
    return collections.Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))


def bleu(candidates, references, order):
    c = sum(len(x) for x in candidates)
    r = 0
    for x, refs in zip(candidates, references):
        r += min((abs(len(y) - len(x)), len(y)) for y in refs)[1]
    product = 1.0
    for n in range(1, order + 1):
        right = total = 0
        for x, refs in zip(candidates, references):
            mine = grams(x, n)
            most = collections.Counter()
            for y in refs:
                for g, k in grams(y, n).items():
                    most[g] = max(most[g], k)
            right += sum(min(k, most[g]) for g, k in mine.items())
            total += sum(mine.values())
        if right == 0:
            return 0.0
        product *= right / total
    return 100 * min(1.0, math.exp(1 - r / c)) * product ** (1 / order)


def cider_d(candidates, references, sigma=6.0):
    df = collections.Counter()
    for refs in references:
        df.update({g for y in refs for n in range(1, 5) for g in grams(y, n)})
    log_n = math.log(len(references))

    def vector(words, n):
        return {g: k * (log_n - math.log(max(1, df[g]))) for g, k in grams(words, n).items()}

    scores = []
    for x, refs in zip(candidates, references):
        total = 0.0
        for n in range(1, 5):
            u = vector(x, n)
            for y in refs:
                v = vector(y, n)
                dot = sum(min(u[g], v[g]) * v[g] for g in u if g in v)
                norm = math.sqrt(sum(a * a for a in u.values()) * sum(b * b for b in v.values()))
                if norm > 0:
                    total += dot / norm * math.exp(-(len(x) - len(y)) ** 2 / (2 * sigma ** 2))
        scores.append(10 * total / 4 / len(refs))
    return scores


def main():
    r = random.Random(19)
    references, candidates = [], []
    for i in range(12):
        refs = [sentence(r) for _ in range(1 + i % 3)]
        references.append(refs)
        candidates.append(changed(r.choice(refs), r) if i % 4 else sentence(r))
    candidates[5] = ["a"]
    golden = {
        "candidates": [" ".join(x) for x in candidates],
        "references": [[" ".join(y) for y in refs] for refs in references],
        "bleu": [bleu(candidates, references, n) for n in range(1, 5)],
        "cider_d": cider_d(candidates, references),
    }
    path = os.path.join(os.path.dirname(__file__), "..", "tests", "golden", "captions.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(golden, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
