"""Words of a text file by Fovea (bench/tokens_bench.cpp) and by Hugging Face's tokenizers, in turn.

    pip install tokenizers
    tools/bench_tokens_hf.py build/release/bench/tokens_bench FILE [ROUNDS]

Splitting: our split_words against BertPreTokenizer (signs and spaces), one thread each, since theirs
has no batch of its own, and ours on all threads. Numbering: Tokenizer.encode of all lines against a
WordLevel tokenizer with BertPreTokenizer and encode_batch_fast, all threads each.
"""
import os
import subprocess
import sys
import time
from collections import Counter

from tokenizers import Tokenizer, models, pre_tokenizers

program, path = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5


class Ours:
    def __init__(self, threads):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE,
                                        env=dict(os.environ, FOVEA_THREADS=str(threads)))
        self.bytes = float(self.process.stdout.readline().split()[1])

    def turn(self, what):
        print(what, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline().split()[0])


def timed(f):
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


with open(path, encoding="utf-8", newline="\n") as file:
    lines = file.read().split("\n")
split = pre_tokenizers.BertPreTokenizer()
counts = Counter(word for line in lines for word, _ in split.pre_tokenize_str(line))
names = {"[UNK]": 0}
for word, _ in counts.most_common():
    names[word] = len(names)
level = Tokenizer(models.WordLevel(names, unk_token="[UNK]"))
level.pre_tokenizer = split
batch = getattr(level, "encode_batch_fast", level.encode_batch)


def their_split():
    for line in lines:
        split.pre_tokenize_str(line)


one, all_threads = Ours(1), Ours(os.cpu_count())
cases = [("split, 1 thread", lambda: one.turn("split"), lambda: timed(their_split)),
         ("split, ours on all threads", lambda: all_threads.turn("split"),
          lambda: timed(their_split)),
         ("split and number, all threads", lambda: all_threads.turn("encode"),
          lambda: timed(lambda: batch(lines, add_special_tokens=False)))]
megabytes = one.bytes / 1e6
for name, ours, theirs in cases:
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    a, b = min(x for x, _ in pairs), min(y for _, y in pairs)
    print(f"{name:32} fovea {megabytes / a:7.1f} MB/s  hugging face {megabytes / b:7.1f} MB/s  "
          f"{b / a:5.1f} x", flush=True)
best = min(all_threads.turn("learn") for _ in range(rounds))
print(f"{'learning the vocabulary':32} fovea {megabytes / best:7.1f} MB/s  load "
      f"{os.getloadavg()[0]:.1f}")
