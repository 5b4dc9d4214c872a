"""The chain of bench/tape_bench.cpp in PyTorch, in turn with that program.

    tools/bench_tape_torch.py build/release/bench/tape_bench
"""
import subprocess
import sys
import time

import torch


def chain():
    x = torch.rand(8, requires_grad=True)
    w = torch.rand(8, requires_grad=True)
    start = time.perf_counter()
    y = x
    for _ in range(500):
        y = torch.tanh(y * w)
    y.sum().backward()
    return time.perf_counter() - start


torch.set_num_threads(1)  # its best for 8 numbers
for _ in range(3):
    print("fovea", subprocess.run([sys.argv[1]], capture_output=True, text=True).stdout.strip())
    best = min(chain() for _ in range(100))
    print(f"torch {torch.__version__} {best * 1e9 / 1000:.0f} ns an op, forward and backward")
