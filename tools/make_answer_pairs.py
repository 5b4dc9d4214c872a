#!/usr/bin/env python3
"""make_answer_pairs.py TRAIN.json[.xz] TEST.json[.xz] FOLDER: pairs of a question and a sentence out of
SQuAD: does the sentence hold the answer?

Writes train.tsv, dev.tsv and test.tsv with the columns label (yes, no), a (the question) and b (a sentence
of its paragraph): of each question the sentence with the answer and one other, drawn; and ranking.tsv, with
all sentences of the paragraphs of some questions of TEST. Dev are whole articles of TRAIN that train.tsv has
no question of. --questions says of how many questions train.tsv is made, 20,000 unless said.
"""
import argparse
import json
import lzma
import pathlib
import random
import re


def read(path):
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file)["data"]


def sentences(text):
    """Where each sentence begins and ends."""
    ends = [m.end() for m in re.finditer(r'[.!?]["\')\]]*(?=\s+["\'(\[]?[A-Z0-9])', text)]
    places, begin = [], 0
    for end in [*ends, len(text)]:
        if text[begin:end].strip():
            places.append((begin, end))
        begin = end
    return places


def questions(articles):
    """(question, sentences, the number of the one that holds the answer) for paragraphs of several."""
    for article in articles:
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            places = sentences(text)
            parts = [" ".join(text[b:e].split()) for b, e in places]
            if len(parts) < 2:
                continue
            for qa in paragraph["qas"]:
                if not qa["answers"]:
                    continue
                at = qa["answers"][0]["answer_start"]
                right = next((i for i, (b, e) in enumerate(places) if b <= at < e), None)
                if right is None or not qa["question"].strip():
                    continue
                yield " ".join(qa["question"].split()), parts, right


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("label\ta\tb\n")
        for row in rows:
            file.write("\t".join(row) + "\n")
    print(f"{path}: {len(rows)} pairs")


def pairs(asked, draw):
    rows = []
    for question, parts, right in asked:
        other = draw.choice([i for i in range(len(parts)) if i != right])
        rows += [("yes", question, parts[right]), ("no", question, parts[other])]
    return rows


def ranking(asked):
    return [("yes" if i == right else "no", question, part)
            for question, parts, right in asked for i, part in enumerate(parts)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train"), parser.add_argument("test"), parser.add_argument("folder")
    parser.add_argument("--questions", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    draw = random.Random(words.seed)
    folder = pathlib.Path(words.folder)
    folder.mkdir(parents=True, exist_ok=True)
    articles = read(words.train)
    draw.shuffle(articles)
    held = max(1, len(articles) // 20)
    dev, train = list(questions(articles[:held])), list(questions(articles[held:]))
    test = list(questions(read(words.test)))
    for part in (dev, train, test):
        draw.shuffle(part)
    write(folder / "train.tsv", pairs(train[:words.questions], draw))
    write(folder / "dev.tsv", pairs(dev[:2000], draw))
    write(folder / "test.tsv", pairs(test[:4000], draw))
    write(folder / "ranking.tsv", ranking(test[:1000]))


main()
