"""Scaled dot-product attention in PyTorch, in turn with `fovea bench attention`, both on 2 threads.

    tools/bench_attention_torch.py build/release/fovea [ROUNDS]

12 heads, D = 64, n = 1024. PyTorch gets whichever of its layouts and modes (eager, compiled) is faster.
"""
import json
import os
import subprocess
import sys
import time

# Its workers would otherwise spin through our turns, and through its own on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
import torch.nn.functional as F

torch.set_num_threads(2)
torch.manual_seed(0)


def timed(f, seconds=2.0):
    best = float("inf")
    stop = time.perf_counter() + seconds
    while time.perf_counter() < stop:
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def cases():
    q, k, v = (torch.rand(1, 12, 1024, 64, requires_grad=True) for _ in range(3))
    grad = torch.rand(1, 12, 1024, 64)

    def forward():
        with torch.no_grad():
            F.scaled_dot_product_attention(q, k, v)

    def both(dropout=0.0):
        out = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout)
        torch.autograd.grad(out, (q, k, v), grad)

    return {
        "forward, n 1024, 12 heads": forward,
        "forward+backward, n 1024, 12 heads": both,
        "dropout forward+backward, n 1024, 12 heads": lambda: both(0.1),
    }


def fovea(program):
    env = dict(os.environ, FOVEA_THREADS="2")
    words = [program, "bench", "attention", "--json", "--only", "n 1024"]
    return {row["name"]: row["ms"] for row in json.loads(subprocess.check_output(words, env=env))}


def main():
    ours, theirs = {}, {}
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        for name, ms in fovea(sys.argv[1]).items():
            ours[name] = min(ms, ours.get(name, ms))
        for name, f in cases().items():
            ms = timed(f)
            theirs[name] = min(ms, theirs.get(name, ms))
    a = torch.rand(1024, 1024)
    rate = 2 * 1024**3 / (timed(lambda: a @ a) * 1e6)
    print(f"torch {torch.__version__}, its 1024^3 matmul {rate:.0f} GFLOP/s, 2 threads")
    for name, ms in theirs.items():
        print(f"{name:44} torch {ms:8.2f} ms  fovea {ours[name]:8.2f} ms  {ms / ours[name]:6.1f} x")


main()
