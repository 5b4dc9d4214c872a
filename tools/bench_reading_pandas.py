"""A table read, its texts split into words and numbered, by Fovea (bench/reading_bench.cpp) and by
pandas with Hugging Face's tokenizers, in turn, a process each.

    pip install pandas tokenizers
    tools/bench_reading_pandas.py build/release/bench/reading_bench [MB [ROUNDS]]

Megabytes a second of wall clock, and of the processor's time, which neighbours do not take; the
processes' peak memory. pandas alone reads; with BertPreTokenizer and a WordLevel model it does what
reading_bench does.
"""
import os
import subprocess
import sys
import tempfile
import time

program = sys.argv[1]
megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 100
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3

read = """
import sys, csv, pandas
table = pandas.read_csv(sys.argv[1], sep="\\t", header=None, quoting=csv.QUOTE_NONE)
"""
number = read + """
from collections import Counter
from tokenizers import Tokenizer, models, pre_tokenizers
split = pre_tokenizers.BertPreTokenizer()
texts = table[1].tolist()
counts = Counter(w for t in texts[:32768] for w, _ in split.pre_tokenize_str(t))
names = {"[UNK]": 0}
for word, _ in counts.most_common():
    names[word] = len(names)
level = Tokenizer(models.WordLevel(names, unk_token="[UNK]"))
level.pre_tokenizer = split
ids = []
for i in range(0, len(texts), 32768):
    ids.extend(e.ids for e in level.encode_batch_fast(texts[i:i + 32768], add_special_tokens=False))
"""


def turn(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


with tempfile.TemporaryDirectory() as folder:
    path = folder + "/table.tsv"
    subprocess.run([program, "make", str(megabytes), path], check=True)
    size = os.path.getsize(path) / 1e6
    cases = [("fovea: twice read, once numbered", [program, path]),
             ("pandas: read", [sys.executable, "-c", read, path]),
             ("pandas, tokenizers: numbered", [sys.executable, "-c", number, path])]
    times = {name: [] for name, _ in cases}
    for _ in range(rounds):
        for name, command in cases:
            times[name].append(turn(command))
    for name, all_turns in times.items():
        wall, busy, memory = (min(t[i] for t in all_turns) for i in range(3))
        print(f"{name:34} {size / wall:7.1f} MB/s  {size / busy:7.1f} MB a second of one core  "
              f"{memory:6.0f} MB")
    print(f"load {os.getloadavg()[0]:.1f}, {size:.0f} MB")
